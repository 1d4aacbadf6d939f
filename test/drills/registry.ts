import { assetDrift } from './asset-drift.ts'
import { attesterDown } from './attester-down.ts'
import { attesterKeyLost } from './attester-key-lost.ts'
import { attesterKeyStolen } from './attester-key-stolen.ts'
import { databaseRestore } from './database-restore.ts'
import { delivererKeyLost } from './deliverer-key-lost.ts'
import { feePayerLost } from './fee-payer-lost.ts'
import { gasEmpty } from './gas-empty.ts'
import { goLive } from './go-live/go-live.ts'
import { nodeDown } from './node-down.ts'
import { operatorGone } from './operator-gone.ts'
import { pointInTime } from './point-in-time.ts'
import { poolerDown } from './pooler.ts'
import { relayerKeyLost } from './relayer-key-lost.ts'
import type { Report } from './report.ts'
import type { Scene } from './scene.ts'
import { sealingKeyLeaked } from './sealing-key-leaked.ts'
import type { StageOptions } from './stage.ts'

export type Drill = {
  title: string
  /** Its page below docs/operations. */
  runbook: string
  stage?: StageOptions
  run?(scene: Scene): Promise<void>
  /** In place of `run`: without a network or a service. */
  fromNothing?(report: Report): Promise<void>
}

// Shortened together, with time to restart processes on a busy machine.
const SHORT = {
  ...{ opLifeSeconds: 30, depositSeconds: 30, lockInclusionSeconds: 10, cutOffSeconds: 5 },
  ...{ attemptLifeSeconds: 10, detectionSeconds: 5 },
}

// Time to replace a key before operations expire, and little more until a delivery that was never sent is
// refunded.
const KEY_LOST = {
  ...{ ...SHORT, opLifeSeconds: 60, lockInclusionSeconds: 30 },
  ...{ fillSeconds: 60, claimInclusionSeconds: 60 },
}

export const drills: Record<string, Drill> = {
  'node-down': {
    title: 'the only node of a chain goes dead',
    runbook: 'runbook/GeoswapChainDown.md',
    run: nodeDown,
  },
  'gas-empty': {
    title: 'relayers, deliverers and fee payers run out of gas coin',
    runbook: 'runbook/GeoswapGasLow.md',
    run: gasEmpty,
  },
  'relayer-key-lost': {
    title: 'a relayer key is gone while swaps are on their way',
    runbook: 'keys.md#a-key-is-lost',
    stage: { deadlines: { opLifeSeconds: 90, lockInclusionSeconds: 30 } },
    run: relayerKeyLost,
  },
  'deliverer-key-lost': {
    title: 'a deliverer key is gone while swaps are on their way',
    runbook: 'keys.md#a-key-is-lost',
    stage: { deadlines: KEY_LOST },
    run: delivererKeyLost,
  },
  'attester-key-lost': {
    title: 'the attester key is gone, and a new one counts after eight days',
    runbook: 'keys.md#a-key-is-lost',
    run: attesterKeyLost,
  },
  'attester-key-stolen': {
    title: 'an attacker signs refunds with the attester key, until the treasury stops them',
    runbook: 'keys.md#a-key-was-stolen',
    run: attesterKeyStolen,
  },
  'fee-payer-lost': {
    title: 'the fee payer keys of Solana are gone while swaps are on their way',
    runbook: 'keys.md#a-key-is-lost',
    stage: { deadlines: KEY_LOST },
    run: feePayerLost,
  },
  'attester-down': {
    title: 'the attester is down until half of the time to claim is over',
    runbook: 'runbook/GeoswapClaimsLate.md',
    stage: { deadlines: { ...SHORT, fillSeconds: 30, claimInclusionSeconds: 75 } },
    run: attesterDown,
  },
  'database-restore': {
    title: 'the database is lost, and the backup is old',
    runbook: 'disaster.md',
    stage: { deadlines: { ...SHORT, fillSeconds: 120, claimInclusionSeconds: 60 } },
    run: databaseRestore,
  },
  'point-in-time': {
    title: 'the machine of the database is lost, and its archive ends seconds before',
    runbook: 'disaster.md',
    stage: { isArchived: true, deadlines: { ...SHORT, fillSeconds: 120, claimInclusionSeconds: 60 } },
    run: pointInTime,
  },
  'pooler-down': {
    title: 'the pooler before the database dies while swaps run',
    runbook: 'database.md#pooler',
    stage: { isPooled: true },
    run: poolerDown,
  },
  'operator-gone': {
    title: 'the operator is gone, and users send their inputs back without it',
    runbook: 'refund-by-hand.md',
    run: operatorGone,
  },
  'sealing-key-leaked': {
    title: 'somebody else can seal tokens',
    runbook: 'keys.md#a-key-was-stolen',
    run: sealingKeyLeaked,
  },
  'asset-drift': {
    title: 'tokens vanish from the inventory',
    runbook: 'runbook/GeoswapDrift.md',
    run: assetDrift,
  },
  'go-live': {
    title: 'a newcomer sets everything up, with at most ten commands in five minutes',
    runbook: '../going-live.md',
    fromNothing: goLive,
  },
}
