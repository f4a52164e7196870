// Uploads a file by tus-js-client, as any program that uses it would.
// Arguments: the module's folder, the endpoint, the token, the file, and its name.
import { createReadStream, statSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, endpoint, token, path, filename] = process.argv.slice(2);
const { Upload } = createRequire(`${folder}/package.json`)("tus-js-client");
let retries = 0;

new Upload(createReadStream(path), {
  endpoint,
  headers: { Authorization: `Bearer ${token}` },
  metadata: { filename },
  uploadSize: statSync(path).size,
  retryDelays: [100, 300, 1000, 3000, 5000],
  onShouldRetry: (error, attempt, options) => {
    retries += 1;
    const status = error.originalResponse ? error.originalResponse.getStatus() : 0;
    return status === 0 || status >= 500 || status === 409 || status === 423;
  },
  onError: (error) => {
    console.error(String(error));
    process.exit(1);
  },
  onSuccess: () => console.log(JSON.stringify({ retries })),
}).start();
