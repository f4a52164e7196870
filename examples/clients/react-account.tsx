// Who is logged in, in all tabs of the application.

import { BrowserTokens, Client } from "@strongroom/client";
import { StrongroomProvider, useSession } from "@strongroom/client/react";

const client = new Client({ url: "https://files.example.com", tokens: new BrowserTokens() });

function Account() {
  const { status, user, error, login, logout } = useSession();
  if (status === "loading") return <p>Loading</p>;
  if (status === "authenticated") {
    return (
      <p>
        {user.name} <button onClick={() => void logout()}>Log out</button>
      </p>
    );
  }
  return (
    <p>
      {error ? "The login has failed. " : null}
      <button onClick={() => void login()}>Log in</button>
    </p>
  );
}

export function App() {
  return (
    <StrongroomProvider client={client} returnUrl="https://app.example.com/">
      <Account />
    </StrongroomProvider>
  );
}
