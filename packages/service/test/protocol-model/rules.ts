/**
 * On Solana a wallet signs one lock, which nobody can repeat; it may be unable to take a refund; and the proof of a
 * delivery, its marker, may be swept. All other rules are equal.
 */
type Family = 'evm' | 'solana'

/**
 * The rules that keep money safe, each of which can be turned off, and the assumptions about time and reorgs. A mutant
 * is the protocol with one of them changed.
 */
export type Rules = {
  origin: Family
  destination: Family
  /** `deposit`: anyone pays the input to the op's own address, without a signature. Only to an EVM chain. */
  input: 'signed' | 'deposit'
  /** The depth at which a lock allows delivery, and a delivery counts as settled. */
  acceptAt: 'soft' | 'hard'
  settleAt: 'soft' | 'hard'
  /** The number of swaps of equal value that may be delivered against locks that are not final. */
  exposureCap: number
  booksExposure: boolean

  /** The destination pays an op only once, by the vault's lane or the marker. */
  hasDeliveryGuard: boolean
  /** The destination refuses a delivery after its deadline, by its own clock. */
  refusesLate: boolean
  /** A claim or refund takes all of an input, out of a slot or account of its own: another one finds nothing. */
  paysOutOnce: boolean
  /** Before the refund deadline, the escrow refunds only what the attester signed. */
  strangersWait: boolean
  /**
   * The events before anyone may sweep the marker of a delivery. `notes`: the refund deadline,
   * and the service noted that the delivery is final. `refundDeadline`: only the former. `nothing`: neither.
   */
  sweepAwaits: 'notes' | 'refundDeadline' | 'nothing'

  /** The service sends back what lies at the address of an op that is over. */
  recoversDeposits: boolean

  writesAhead: boolean
  /** A second attempt is signed only once no earlier one can land. */
  signsAgainAfterDeath: boolean
  /**
   * `proof`: a proof of death. `timer`: none. `silence`: only what the chain shows, if the database lost its attempts.
   */
  refundNeeds: 'proof' | 'timer' | 'silence'
  failNeeds: 'proof' | 'timer'
  refundedAt: 'final' | 'inclusion'
  /** The block that has to be past the fill deadline if it shows that nothing was delivered. */
  overAt: 'final' | 'newest'
  /** Every transition is a compare-and-set on the version that was read. */
  comparesVersion: boolean
  /** The database refuses a lock or delivery that the swap's state forbids. */
  hasTriggers: boolean
  /** The attester reads both chains itself before it signs. */
  attesterReads: boolean
  /** The number of refunds that attesters, or two processes of one, sign at the same moment. */
  refundsAtOnce: 1 | 2

  /** The fill deadline leaves time for the latest lock to become final. */
  fillAwaitsLockFinality: boolean
  /** The events that fit between fill and refund deadline. */
  refundMargin: 'full' | 'claimIncluded' | 'none'
  /** A soft delivery is reported as settled only while there is time to repeat it. */
  settlesOnlyRepeatable: boolean
  redeliversSettled: boolean
  /** Bytes that a reorg undid close to the deadline land again in time. */
  undoneBytesLandAgain: boolean
  /** How often a reorg may undo the delivery of a swap that was reported as settled. */
  reorgsAfterSettled: 1 | 2
}

/** Production rules if every depth is hard. */
export const baseRules: Rules = {
  origin: 'evm',
  destination: 'evm',
  input: 'signed',
  recoversDeposits: true,
  acceptAt: 'hard',
  settleAt: 'hard',
  exposureCap: 0,
  booksExposure: true,
  hasDeliveryGuard: true,
  refusesLate: true,
  paysOutOnce: true,
  strangersWait: true,
  sweepAwaits: 'notes',
  writesAhead: true,
  signsAgainAfterDeath: true,
  refundNeeds: 'proof',
  failNeeds: 'proof',
  refundedAt: 'final',
  overAt: 'final',
  comparesVersion: true,
  hasTriggers: true,
  attesterReads: true,
  refundsAtOnce: 1,
  fillAwaitsLockFinality: true,
  refundMargin: 'full',
  settlesOnlyRepeatable: true,
  redeliversSettled: true,
  undoneBytesLandAgain: true,
  reorgsAfterSettled: 1,
}

/** Production rules if locks and deliveries count before they are final, within a cap. */
export const softRules: Rules = { ...baseRules, acceptAt: 'soft', settleAt: 'soft', exposureCap: 1 }
