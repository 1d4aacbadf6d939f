import { describeError } from '../command.ts'

/** Works on all chains at the same time, each to its end, and throws afterwards what failed. */
export async function onEach<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const ends = await Promise.allSettled(items.map(work))
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
  if (reasons.length === 1) throw reasons[0]
  if (reasons.length > 1) throw new Error(reasons.map(describeError).join('\n'), { cause: reasons })
  return ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
}
