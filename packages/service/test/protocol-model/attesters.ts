import type { Machine } from './explorer.ts'

/**
 * How an outcome gets its signatures: anyone who writes to the database proposes, each attester checks on its own nodes
 * and signs one outcome per op, and the escrow counts. `truth` is the outcome that the chains allow.
 */
type Outcome = 'claim' | 'refund'
export type SetRules = {
  threshold: number
  /** Sign only what their own nodes show. */
  honest: number
  /** Honest, and their nodes show the opposite. */
  deceived: number
  /** Sign everything. */
  stolen: number
}
export type SetState = {
  truth: Outcome
  proposed: 'none' | Outcome
  /** Recorded by each attester that is not stolen. */
  outcomes: readonly ('none' | Outcome)[]
  /** Whether each of them has signed the proposal. */
  signed: readonly boolean[]
  sent: 'none' | Outcome
}
export type SetStep = { name: string; to: SetState }

const KINDS = ['claim', 'refund'] as const

export function attesterMachine(truth: Outcome, rules: SetRules): Machine<SetState, SetStep> {
  const members = Array.from({ length: rules.honest + rules.deceived })
  return {
    start: {
      ...{ truth, proposed: 'none', sent: 'none' },
      outcomes: members.map(() => 'none' as const),
      signed: members.map(() => false),
    },
    stepsOf: (state) => [...propose(state), ...sign(state, rules), ...send(state, rules)],
    encode: (state) => JSON.stringify(state),
    judgeState: ({ sent }) => (sent === 'none' || sent === truth ? [] : ['the outcome is true']),
    judgeStep: () => [],
    isDone: ({ sent }) => sent !== 'none',
  }
}

/** A proposal replaces an earlier one, whose signatures do not count for it. */
function propose(state: SetState): SetStep[] {
  if (state.sent !== 'none') return []
  return KINDS.filter((kind) => kind !== state.proposed).map((kind) => ({
    name: `service: propose ${kind}`,
    to: { ...state, proposed: kind, signed: state.signed.map(() => false) },
  }))
}

function sign(state: SetState, rules: SetRules): SetStep[] {
  const { truth, proposed, outcomes, sent } = state
  if (proposed === 'none' || sent !== 'none') return []
  return outcomes.flatMap((outcome, index) => {
    const isDeceived = index >= rules.honest
    const isSeen = (proposed === truth) !== isDeceived
    const to = (change: Partial<SetState>) => ({ ...state, ...change })
    if (outcome === 'none' && isSeen)
      return [{ name: `attester ${index}: record`, to: to({ outcomes: outcomes.with(index, proposed) }) }]
    // A crash between the two loses nothing: it signs afterwards.
    if (outcome !== proposed || state.signed[index]) return []
    return [{ name: `attester ${index}: sign`, to: to({ signed: state.signed.with(index, true) }) }]
  })
}

function send(state: SetState, { threshold, stolen }: SetRules): SetStep[] {
  const { proposed, signed, sent } = state
  const count = signed.filter(Boolean).length + stolen
  if (proposed === 'none' || sent !== 'none' || count < threshold) return []
  return [{ name: `service: send ${proposed}`, to: { ...state, sent: proposed } }]
}
