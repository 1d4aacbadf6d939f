import type { Static } from 'typebox'
import { type ChainFile, familyOf } from '../chains/families.ts'
import { defaultGasBudgets, defaultReservations } from '../swap/budgets.ts'
import { defaultFees, uniformFees } from '../swap/fees.ts'
import { finalityOf, maxHeadAgeMs } from '../swap/finality.ts'
import { defaultPriceTolerance } from '../swap/pricing.ts'
import type { Finished } from './fields.ts'
import type { NetworkSchema } from './network-schema.ts'

export const defaultDeadlines = {
  opLifeSeconds: 120,
  volatileLifeSeconds: 60,
  depositSeconds: 900,
  lockInclusionSeconds: 60,
  fillSeconds: 600,
  cutOffSeconds: 60,
  attemptLifeSeconds: 90,
  detectionSeconds: 60,
  claimInclusionSeconds: 300,
}

// The public server allows 30 requests in 10 s per address: six processes may share it.
const defaultPythPollMs = 2_000

/** Value that one account may have in built and not submitted ops. */
const defaultUnsubmittedCapUsd = 250_000

export const defaultDiscount = {
  tiers: [
    { name: 'bronze', holding: '1000', percent: 10 },
    { name: 'silver', holding: '10000', percent: 25 },
    { name: 'gold', holding: '100000', percent: 50 },
  ],
  maxAgeSeconds: 60,
}

/** Of an operator that charges for scarcity. */
const defaultRebalancing = { maxCentiBps: 500, targets: [] }

const defaultScreening = { budgetMs: 500, cacheSeconds: 300 }

export const defaultConnections = {
  apiPool: 20,
  workerPool: 20,
  attesterPool: 4,
  apiProcesses: 1,
  workerProcesses: 1,
}

/** The configuration of a process: every default is filled in, and nothing looks for one later. */
export type NetworkConfig = ReturnType<typeof finishNetwork>

/** Fills the defaults into a configuration without problems. */
export function finishNetwork(file: Static<typeof NetworkSchema>) {
  const { discount, budgets } = file
  return {
    ...file,
    basePath: file.basePath ?? '',
    retiring: file.retiring ?? [],
    chains: file.chains.map(finishChain),
    remoteSigners: file.remoteSigners ?? [],
    assets: file.assets.map((asset) => ({
      ...asset,
      usdStable: asset.usdStable ?? false,
      maxDeviationBps: asset.maxDeviationBps ?? 200,
      minSources: asset.minSources ?? 1,
    })),
    pyth: file.pyth && { ...file.pyth, pollMs: file.pyth.pollMs ?? defaultPythPollMs },
    fees: { ...defaultFees, ...flatFees(file.feeCentiBps), ...file.fees },
    rebalancing: file.rebalancing && { ...defaultRebalancing, ...file.rebalancing },
    discount: discount && { ...defaultDiscount, ...discount },
    highImpactBps: file.highImpactBps ?? 500,
    priceTolerance: { ...defaultPriceTolerance, ...file.priceTolerance },
    thinSpreadBps: file.thinSpreadBps ?? 5,
    unsubmittedCapUsd: file.unsubmittedCapUsd ?? defaultUnsubmittedCapUsd,
    quoteTtlMs: file.quoteTtlMs ?? 30_000,
    leaseMs: file.leaseMs ?? 6_000,
    deadlines: { ...defaultDeadlines, ...file.deadlines },
    budgets: {
      wastedGas: { ...defaultGasBudgets, ...budgets?.wastedGas },
      reservations: { ...defaultReservations, ...budgets?.reservations },
    },
    screening: file.screening && { ...defaultScreening, ...file.screening },
    webhooks: { allowPrivateAddresses: file.webhooks?.allowPrivateAddresses ?? false },
    connections: { ...defaultConnections, ...file.connections },
    eventDays: file.eventDays ?? 90,
    x402: file.x402 && { callsPerMinute: 30, dailyUsdPerWallet: 25_000, ...file.x402 },
    keyless: file.keyless && { callsPerMinute: 120, ...file.keyless },
  }
}

const flatFees = (centiBps: number | undefined) =>
  centiBps === undefined ? undefined : uniformFees(centiBps)

export function finishChain<C extends ChainFile>(chain: C): C & Finished {
  return {
    ...chain,
    finality: { ...chain.finality, hardSeconds: finalityOf(chain).hardSeconds },
    maxHeadAgeMs: maxHeadAgeMs(chain),
    maxInFlight: chain.maxInFlight ?? familyOf(chain).traits.maxInFlight,
  }
}
