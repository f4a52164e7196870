/** Responses of JSON lines. */

/** Yield the lines of a response, while they arrive. */
export async function* linesOf(response: Response): AsyncGenerator<string, void, undefined> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop()!;
      yield* lines;
    }
  } finally {
    await reader.cancel();
  }
}
