/**
 * Runs `work` and collects its error, so that one failing swap or chain does not hold up the others. Throws if there is
 * no collection.
 */
export async function collectError<T>(
  errors: unknown[] | undefined,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    addError(errors, error)
    return undefined
  }
}

/** Adds an error to the collection, or throws it if there is none. */
function addError(errors: unknown[] | undefined, error: unknown): void {
  if (!errors) throw error
  errors.push(error)
}

/** Throws the first collected error, if any. */
export function throwFirst(errors: readonly unknown[]): void {
  if (errors.length > 0) throw errors[0]
}
