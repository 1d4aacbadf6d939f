/** `feeOwner`: whoever an account's own fee is paid to. */
export type PartyRole = 'wallet' | 'recipient' | 'depositor' | 'feeOwner'
export type Party = { address: string; chainId: number; role: PartyRole }

export type Denial = { kind: 'deny'; reason: string; list: string; version: string }
export type Answer = { kind: 'allow' } | Denial | { kind: 'unknown' }

export const ALLOW: Answer = { kind: 'allow' }
export const UNKNOWN: Answer = { kind: 'unknown' }

/** One that decides about addresses. */
export type Source = {
  name: string
  /** Which an unknown answer of this source counts as. */
  onUnknown: 'allow' | 'deny'
  /** From memory at once, or later. Never throws or rejects. */
  screen(party: Party): Answer | Promise<Answer>
}

/** Undefined without a decision of the operator on this address. */
type OverrideOf = (address: string) => Answer | undefined

type Options = {
  sources: readonly Source[]
  overrideOf: OverrideOf
  /** For all sources together. */
  budgetMs: number
  onOutcome(source: string, outcome: Answer['kind']): void
}

export type Screen = (party: Party) => Answer | Promise<Answer>

/**
 * Asks every source at once. One that takes longer than the budget is unknown. Answers without waiting if all sources
 * do, or if one denies from memory.
 */
export function createScreen({ sources, overrideOf, budgetMs, onOutcome }: Options): Screen {
  const count = (answers: readonly Answer[]) => {
    for (const [index, { name }] of sources.entries()) onOutcome(name, answers[index]?.kind ?? 'unknown')
    return combine(sources, answers)
  }
  return (party) => {
    const override = overrideOf(party.address)
    if (override) return override
    const asked = sources.map((source) => source.screen(party))
    const known = asked.map((answer) => (answer instanceof Promise ? UNKNOWN : answer))
    const isKnown = known.some(isDenial) || !asked.some((answer) => answer instanceof Promise)
    if (isKnown) return count(known)
    return withBudget(asked, budgetMs).then(count)
  }
}

const isDenial = (answer: Answer): answer is Denial => answer.kind === 'deny'

/** The first denial counts; without one, a source that has to know and does not. */
export function combine(sources: readonly Pick<Source, 'onUnknown'>[], answers: readonly Answer[]): Answer {
  const denial = answers.find(isDenial)
  if (denial) return denial
  const isOpen = sources.some(
    ({ onUnknown }, index) => onUnknown === 'deny' && answers[index]?.kind !== 'allow',
  )
  return isOpen ? UNKNOWN : ALLOW
}

async function withBudget(asked: readonly (Answer | Promise<Answer>)[], ms: number): Promise<Answer[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Answer>((resolve) => {
    timer = setTimeout(resolve, ms, UNKNOWN)
  })
  const answers = await Promise.all(asked.map((answer) => Promise.race([answer, late])))
  clearTimeout(timer)
  return answers
}

/** A source that has to ask somebody. */
export type Asked = {
  name: string
  onUnknown: Source['onUnknown']
  /** Equal for parties with the same answer; undefined for an address that it does not cover. */
  keyOf(party: Party): string | undefined
  /** May take long. Throws if the source is silent or odd: that says nothing about the party. */
  ask(party: Party): Promise<Answer>
}

type Memory = {
  lifeMs: number
  onFailure(source: string): void
  now?: () => number
}

const MAX_KNOWN = 50_000
const MAX_ASKED_AT_ONCE = 64
const MAX_FAILURES = 3
const REST_MS = 5_000
const UNKNOWN_LIFE_MS = 5_000

/**
 * Remembers answers for a while, and asks once for callers that come together. After three failures one caller in five
 * seconds asks, and all others get `unknown` at once: a silent source delays nobody. An answer of `unknown` is no
 * failure: strangers can name addresses about which a source does not decide.
 */
export function remember(asked: Asked, { lifeMs, onFailure, now = () => performance.now() }: Memory): Source {
  const known = new Map<string, { answer: Answer; until: number }>()
  const open = new Map<string, Promise<Answer>>()
  let failures = 0
  let retryAt = Number.NEGATIVE_INFINITY

  function keep(key: string, answer: Answer): void {
    known.delete(key)
    known.set(key, {
      answer,
      until: now() + (answer.kind === 'unknown' ? Math.min(lifeMs, UNKNOWN_LIFE_MS) : lifeMs),
    })
    const [oldest] = known.keys()
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  }

  async function ask(key: string, party: Party): Promise<Answer> {
    const answer = await asked.ask(party).catch(() => undefined)
    open.delete(key)
    if (!answer) {
      failures += 1
      retryAt = now() + REST_MS
      onFailure(asked.name)
      return UNKNOWN
    }
    failures = 0
    keep(key, answer)
    return answer
  }

  function mayAsk(): boolean {
    if (open.size >= MAX_ASKED_AT_ONCE) return false
    if (failures < MAX_FAILURES) return true
    if (now() < retryAt) return false
    retryAt = now() + REST_MS
    return true
  }

  return {
    name: asked.name,
    onUnknown: asked.onUnknown,
    screen(party) {
      const key = asked.keyOf(party)
      if (key === undefined) return ALLOW
      const kept = known.get(key)
      if (kept && now() < kept.until) return kept.answer
      const running = open.get(key)
      if (running) return running
      if (!mayAsk()) return UNKNOWN
      const asking = ask(key, party)
      open.set(key, asking)
      return asking
    },
  }
}
