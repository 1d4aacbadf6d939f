import type { Answer, Denial, Party, Screen } from './screening.ts'

/** Where an address is screened. */
type ScreenPoint = 'quote' | 'submit' | 'lock' | 'deposit' | 'delivery' | 'payout'

export type DeniedParty = Party &
  Omit<Denial, 'kind'> & { point: ScreenPoint; accountId?: string; swapId?: string }

export type Screening = {
  /** For a caller who gets an answer: a denial is recorded later, and at most as often as the memory allows. */
  ofCaller(
    parties: readonly Party[],
    at: { point: ScreenPoint; accountId: string },
  ): Verdict | Promise<Verdict>
  /** Records a denial by others than the sources, at most as often as the memory allows. */
  note(denied: DeniedParty): void
  /** For money that is held: a denial is recorded before it is told. */
  ofSwap(parties: readonly Party[], at: Place): Promise<Verdict>
  /** Whether somebody unknown is denied. */
  isStrict: boolean
}

/** Of a swap, or of a payout to an account. */
type Place = { point: ScreenPoint; swapId: string } | { point: 'payout'; accountId: string }

export type Verdict = Answer['kind']

type Deps = {
  screen: Screen
  isStrict: boolean
  /** Stores a denial, of one address for one point of a swap once. */
  insert(denied: DeniedParty): Promise<void>
}

type Listener = {
  onDecided(point: ScreenPoint, verdict: Verdict): void
  onFault(error: unknown): void
  now?: () => number
}

// A caller who repeats a denied quote writes one row in this time, and all callers together this many in a minute.
const REPEATED_MS = 3_600_000
const MAX_NOTED = 10_000
const MAX_PER_MINUTE = 60

/** Decides about all parties together, and records what is denied. */
export function createScreening({ screen, isStrict, insert }: Deps, listener: Listener): Screening {
  const { onDecided, onFault, now = () => performance.now() } = listener
  const mayNote = createMemory(now)

  const note = (denied: DeniedParty): void => {
    if (mayNote(denied)) insert(denied).catch(onFault)
  }

  return {
    isStrict,
    note,
    ofCaller(parties, at) {
      const decide = (answers: readonly Answer[]): Verdict => {
        for (const denied of denialsIn(parties, answers)) note({ ...denied, ...at })
        return tell(at.point, answers)
      }
      const asked = parties.map(screen)
      return asked.some((answer) => answer instanceof Promise)
        ? Promise.all(asked).then(decide)
        : decide(asked as Answer[])
    },
    async ofSwap(parties, at) {
      const answers = await Promise.all(parties.map(screen))
      for (const denied of denialsIn(parties, answers)) await insert({ ...denied, ...at })
      return tell(at.point, answers)
    },
  }

  function tell(point: ScreenPoint, answers: readonly Answer[]): Verdict {
    const kinds = new Set(answers.map(({ kind }) => kind))
    const verdict = kinds.has('deny') ? 'deny' : kinds.has('unknown') ? 'unknown' : 'allow'
    onDecided(point, verdict)
    return verdict
  }
}

function denialsIn(parties: readonly Party[], answers: readonly Answer[]) {
  return parties.flatMap((party, index) => {
    const answer = answers[index]
    if (answer?.kind !== 'deny') return []
    const { reason, list, version } = answer
    return [{ ...party, reason: clean(reason), list: clean(list), version: clean(version) }]
  })
}

/** Of a reason, a list or a version, in characters. */
export const MAX_TEXT = 200

/** PostgreSQL stores no NUL, and a terminal shows no control character. */
const clean = (text: string) => text.slice(0, MAX_TEXT).replace(/\p{C}/gu, '?')

/** Whether a denial is new enough to be stored: strangers can repeat one as often as they may call. */
function createMemory(now: () => number) {
  const noted = new Map<string, number>()
  let minute = { begun: Number.NEGATIVE_INFINITY, count: 0 }
  return ({ address, chainId, role, point, list }: DeniedParty): boolean => {
    const key = [address, chainId, role, point, list].join(' ')
    const at = noted.get(key)
    if (at !== undefined && now() - at < REPEATED_MS) return false
    if (now() - minute.begun >= 60_000) minute = { begun: now(), count: 0 }
    if (minute.count >= MAX_PER_MINUTE) return false
    minute.count += 1
    noted.set(key, now())
    const [oldest] = noted.keys()
    if (noted.size > MAX_NOTED && oldest !== undefined) noted.delete(oldest)
    return true
  }
}
