/** Does a part of the work, or leaves a fault behind: what one swap or chain runs into holds up no other. */
export async function attempt<T>(faults: unknown[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    faults.push(error)
    return undefined
  }
}

/** Once every part had its turn, the first fault is told. */
export function throwFirst(faults: readonly unknown[]): void {
  if (faults.length > 0) throw faults[0]
}
