type Block = { number: bigint; hash: string; seconds: number }
type AtBlock = { chainId: number; block: Block }

/** Evidence of each kind from the chains. Each kind rules out that the other outcome can still happen. */
type Evidence = {
  /** The block is unknown while the destination is silent. */
  neverSigned: { chainId: number; block: Block | undefined }
  attemptsConsumedUnlocked: AtBlock
  notLockedPastDeadline: AtBlock
  attemptsConsumedUndelivered: AtBlock
  notDeliveredPastDeadline: AtBlock
  deliveredNowherePastDeadline: { blocks: readonly AtBlock[] }
  refundedAfterDelivery: AtBlock
}
type ProofKind = keyof Evidence

/** The kinds of proof that an event accepts. The database refuses `failed` and `refundDecided` without a proof. */
export const proofKinds = {
  declined: ['neverSigned', 'notLockedPastDeadline'],
  lockDead: ['attemptsConsumedUnlocked', 'notLockedPastDeadline'],
  deliveryImpossible: [
    'neverSigned',
    'attemptsConsumedUndelivered',
    'notDeliveredPastDeadline',
    'deliveredNowherePastDeadline',
  ],
  inputLost: ['notLockedPastDeadline', 'refundedAfterDelivery'],
} as const satisfies Record<string, readonly ProofKind[]>

type Kinds = typeof proofKinds
export type Proof<Kind extends ProofKind = ProofKind> = { [K in Kind]: { kind: K } & Evidence[K] }[Kind]
export type ProofOf<Event extends keyof Kinds> = Proof<Kinds[Event][number]>
