/** Errors of the file system. */

/** Return the result of a call, or nothing if it fails with a code. */
export async function ignoring<T>(code: string, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return undefined;
    throw error;
  }
}
