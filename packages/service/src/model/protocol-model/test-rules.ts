/** How a chain excludes a second effect: by contract state and nonces, or by markers and heights. */
export type Family = 'evm' | 'solana'

/**
 * The rules that keep money safe, each of which can be turned off, and what is assumed of time and reorgs.
 * A mutant is the same protocol with one of them changed.
 */
export type Rules = {
  origin: Family
  destination: Family
  /** From which depth a lock counts for delivery, and a delivery as settled. */
  acceptAt: 'soft' | 'hard'
  settleAt: 'soft' | 'hard'
  /** How many swaps of equal value may be delivered against locks that are not final. */
  exposureCap: number
  booksExposure: boolean

  /** The destination pays an op once: the vault's lane or the marker. */
  hasDeliveryGuard: boolean
  /** The origin pays an op back once: the escrow's slot or the marker. */
  hasRefundGuard: boolean
  /** A stranger may put lamports on a marker that was seen in a transaction. */
  hasMarkerFunders: boolean

  writesAhead: boolean
  /** A second attempt is signed only when no earlier one can land. */
  signsAgainAfterDeath: boolean
  /** `proof`: of death. `timer`: none. `silence`: the chain's word alone, for a log that was lost. */
  refundNeeds: 'proof' | 'timer' | 'silence'
  failNeeds: 'proof' | 'timer'
  refundedAt: 'final' | 'inclusion'
  /** Every move is a compare-and-set on the version that was read. */
  comparesVersion: boolean
  /** The database refuses a lock or a delivery of a swap whose state forbids it, whoever asks. */
  hasTriggers: boolean
  /** The attester reads both chains itself before it signs. */
  attesterReads: boolean
  /** How many attesters run: each can put a signed refund of its own on the table. */
  attesters: 1 | 2

  /** The fill deadline leaves time for the last possible lock to become final. */
  fillAwaitsLockFinality: boolean
  /** What the time between fill and refund deadline has room for. */
  refundMargin: 'full' | 'claimIncluded' | 'withoutAttemptLife' | 'none'
  /** A soft delivery is told as settled only while there is time to repeat it. */
  settlesOnlyRepeatable: boolean
  redeliversSettled: boolean
  /** Bytes that a reorg threw out close to the deadline land again in time. */
  undoneBytesLandAgain: boolean
  /** How often a reorg may undo the delivery of a swap that was told as settled. */
  reorgsAfterSettled: 1 | 2
}

/** What production does where every depth is hard. */
export const baseRules: Rules = {
  origin: 'evm',
  destination: 'evm',
  acceptAt: 'hard',
  settleAt: 'hard',
  exposureCap: 0,
  booksExposure: true,
  hasDeliveryGuard: true,
  hasRefundGuard: true,
  hasMarkerFunders: false,
  writesAhead: true,
  signsAgainAfterDeath: true,
  refundNeeds: 'proof',
  failNeeds: 'proof',
  refundedAt: 'final',
  comparesVersion: true,
  hasTriggers: true,
  attesterReads: true,
  attesters: 1,
  fillAwaitsLockFinality: true,
  refundMargin: 'full',
  settlesOnlyRepeatable: true,
  redeliversSettled: true,
  undoneBytesLandAgain: true,
  reorgsAfterSettled: 1,
}

/** What production does where locks and deliveries count before they are final, within a cap. */
export const softRules: Rules = { ...baseRules, acceptAt: 'soft', settleAt: 'soft', exposureCap: 1 }
