/** A time of day in the user's zone, from seconds. */
export function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString()
}
