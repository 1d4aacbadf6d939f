import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Artifact, SuiteResult, TestResult } from '@nomicfoundation/edr'
import type { Hex } from 'viem'
import { type Contracts, compileFuzz, compileProduct } from '../scripts/compile.ts'
import { otherContracts } from './code.ts'

/** These must be true after every call. They are numbered as in `test/fuzz/Ledger.sol`. */
export const SENTENCES = [
  'the escrow holds exactly what is locked and credited, of each token and of native coin',
  'an op is locked once and leaves LOCKED once',
  'no op is both claimed and refunded',
  "only the vault, the ops' wallets and owners of credits are ever paid",
  'every locked op can be refunded after its deadline, whatever caps, stops and tokens do',
  'the vault pays a ring and index once, in time, and at least the minimum',
  "an op's address is emptied only towards the escrow or the op's wallet",
  'the attesters that decide a locked op never change',
  "nothing leaves LOCKED early without enough of the op's own attesters",
  'no hour claims, refunds by attestation or delivers more than its cap',
] as const

export type Campaign = { runs: number; depth: number; seed: Hex; contracts?: Contracts }
export type Finding = {
  untrue: readonly string[]
  calls: number
  /** Any other failure than an untrue sentence. */
  failure: string | undefined
  /** How often each action of the handler was called. */
  actions: Readonly<Record<string, number>>
}

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('..', import.meta.url))
const suite = { name: 'EscrowInvariants', source: 'test/fuzz/EscrowInvariants.sol', solcVersion: '0.8.37' }

/** Runs sequences of random calls in the test runner that Hardhat's chain is built from. */
export async function runFuzz(campaign: Campaign): Promise<Finding> {
  const { runs, depth, seed, contracts = otherContracts ?? compileProduct() } = campaign
  const { l1SolidityTestRunnerFactory, L1_CHAIN_TYPE } = require('@nomicfoundation/edr')
  const { getGlobalEdrContext } = require('hardhat/internal/hardhat-network/provider/provider')
  const context = await getGlobalEdrContext()
  await context.registerSolidityTestRunnerFactory(L1_CHAIN_TYPE, l1SolidityTestRunnerFactory())
  const artifacts = [...toArtifacts(compileFuzz()), ...toArtifacts(contracts)]
  // The handler hashes its numbers, so values found in storage and code are no better than others.
  const dictionary = { dictionaryWeight: 0, includeStorage: false, includePushBytes: false }
  const invariant = { runs, depth, failOnRevert: true, shrinkRunLimit: 0, ...dictionary }
  const options = { projectRoot: root, invariant, fuzz: { seed, ...dictionary }, gasLimit: 2n ** 40n }
  // The runner may report the result after its own promise has ended.
  const { testResults } = await new Promise<SuiteResult>((resolve, reject) => {
    context.runSolidityTests(L1_CHAIN_TYPE, artifacts, [suite], options, {}, resolve).catch(reject)
  })
  const [result] = testResults
  if (!result) throw new Error('the runner found no invariants')
  return toFinding(result)
}

function toArtifacts(contracts: Contracts): Artifact[] {
  return Object.entries(contracts).map(([name, { abi, bytecode, runtimeBytecode }]) => ({
    id: name === suite.name ? suite : { ...suite, name, source: `src/${name}.sol` },
    contract: {
      abi: JSON.stringify(abi),
      bytecode,
      linkReferences: {},
      deployedBytecode: runtimeBytecode,
      deployedLinkReferences: {},
    },
  }))
}

function toFinding(result: TestResult): Finding {
  const { kind, status, reason } = result
  if (!('calls' in kind)) throw new Error(`${result.name} is no invariant`)
  const bits = BigInt(/^Untrue\((\d+)/.exec(reason ?? '')?.[1] ?? 0)
  const untrue = SENTENCES.filter((_, number) => (bits >> BigInt(number)) & 1n)
  const failure = status === 'Success' || untrue.length > 0 ? undefined : (reason ?? status)
  const actions = Object.entries(kind.metrics).map(([name, { calls }]) => [
    name.replace(/.*\./, ''),
    Number(calls),
  ])
  return { untrue, failure, calls: Number(kind.calls), actions: Object.fromEntries(actions) }
}
