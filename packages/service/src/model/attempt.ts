/**
 * Runs `work` and collects its error, so that one failing swap or chain does not hold up the others. Throws if there is
 * no collection.
 */
export async function attempt<T>(
  faults: unknown[] | undefined,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    leave(faults, error)
    return undefined
  }
}

/** Adds an error to the collection, or throws it if there is none. */
export function leave(faults: unknown[] | undefined, fault: unknown): void {
  if (!faults) throw fault
  faults.push(fault)
}

/** Throws the first collected error, if any. */
export function throwFirst(faults: readonly unknown[]): void {
  if (faults.length > 0) throw faults[0]
}
