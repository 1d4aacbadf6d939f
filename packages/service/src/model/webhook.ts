/** The result of one attempt to post an event. */
export type Answer =
  | { kind: 'answered'; status: number; retryAfterMs?: number }
  | { kind: 'failed'; reason: string }

/** The consequence of an attempt for its delivery. `gone` also disables the endpoint. */
export type Verdict =
  | { kind: 'delivered' }
  | { kind: 'retry'; pauseMs: number; failure: string }
  | { kind: 'givenUp'; failure: string }
  | { kind: 'gone'; failure: string }

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Pauses after each attempt, as Standard Webhooks suggests: ten attempts in three days. */
export const RETRY_PAUSES_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]
const LONGEST_PAUSE_MS = 24 * HOUR_MS

/** `attempts` includes this one. `random` (0..1) lengthens a pause by up to a fifth. */
export function judgeAttempt(
  answer: Answer,
  { attempts, random }: { attempts: number; random: number },
): Verdict {
  if (answer.kind === 'answered' && answer.status >= 200 && answer.status < 300) return { kind: 'delivered' }
  const failure = answer.kind === 'answered' ? `it answered ${answer.status}` : answer.reason
  if (answer.kind === 'answered' && answer.status === 410) return { kind: 'gone', failure }
  const pause = RETRY_PAUSES_MS[attempts - 1]
  if (pause === undefined) return { kind: 'givenUp', failure }
  const asked = answer.kind === 'answered' ? Math.min(answer.retryAfterMs ?? 0, LONGEST_PAUSE_MS) : 0
  return { kind: 'retry', pauseMs: Math.round(Math.max(pause, asked) * (1 + random / 5)), failure }
}
