/**
 * Does a part of the work, or leaves a fault behind: what one swap or chain runs into holds up no other. Where nobody
 * gathers faults, it throws.
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

/** For whoever gathers faults; where nobody does, it is thrown. */
export function leave(faults: unknown[] | undefined, fault: unknown): void {
  if (!faults) throw fault
  faults.push(fault)
}

/** Once every part had its turn, the first fault is told. */
export function throwFirst(faults: readonly unknown[]): void {
  if (faults.length > 0) throw faults[0]
}
