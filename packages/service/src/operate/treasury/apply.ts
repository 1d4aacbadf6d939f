import { type Address, type Hex, isAddressEqual, type PrivateKeyAccount, type PublicClient } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describeError, type Env, type Output, UsageError } from '../../command.ts'
import { readKeys } from '../../config/secrets.ts'
import type { EvmChainConfig, NetworkConfig } from '../../config.ts'
import { type ChainWallet, openWallet } from '../evm/wallet.ts'
import { onEach } from '../family.ts'
import { findTreasury } from '../inventory/treasury.ts'
import { revertIn, type TreasuryCall, textOf } from './calls.ts'
import type { ChainPlan } from './read-chain.ts'

type Applied = {
  network: NetworkConfig
  chains: readonly EvmChainConfig[]
  isLocal: boolean
  /** Whether the guardian sends them, in place of the treasury. */
  byGuardian: boolean
  /** With the client of a wallet, if there is one. */
  plan(chain: EvmChainConfig, client?: PublicClient): Promise<ChainPlan>
}

/**
 * Plans every chain first, then sends the calls of each in order, up to the first that fails. Calls are planned again
 * by the client of the wallet, whose nonces prevent a second deposit.
 */
export async function applyCalls(env: Env, applied: Applied, output: Output): Promise<number> {
  const { chains } = applied
  const plans = await Promise.all(chains.map((chain) => applied.plan(chain)))
  for (const { chain, notes } of plans) for (const note of notes) output.hint(`${chain.name}: ${note}`)
  const lacks = plans.flatMap(({ chain, refused, lacks }) =>
    [...refused, ...lacks].map((lack) => `${chain.name}: ${lack}.`),
  )
  if (lacks.length > 0) throw new UsageError(`${lacks.join('\n')}\nNothing was sent.`)
  const due = plans.filter(({ calls }) => calls.length > 0)
  const account = due[0] && (await openTreasury(env, applied, due[0].chain))
  const ready = await Promise.all(
    due.map(async ({ chain }) => {
      const wallet = await openReady(chain, account)
      return { chain, wallet, calls: (await applied.plan(chain, wallet.client)).calls }
    }),
  )
  await onEach(ready, ({ wallet, chain, calls }) => sendAll(wallet, { chain, calls, output }))
  const sent = ready.reduce((sum, { calls }) => sum + calls.length, 0)
  output.out(
    sent === 0 ? 'Nothing to call.' : `Done: ${sent} ${sent === 1 ? 'call is' : 'calls are'} in blocks.`,
  )
  return 0
}

async function openTreasury(env: Env, { network, isLocal, byGuardian }: Applied, chain: EvmChainConfig) {
  if (byGuardian) return openGuardian(env, network)
  const asked = { network, chain, kind: 'withdraw', isLocal } as const
  const { signers } = await findTreasury(env, asked, { needsKey: true })
  return signers.evm?.[0] as PrivateKeyAccount | undefined
}

function openGuardian(env: Env, { guardian }: NetworkConfig): PrivateKeyAccount {
  const problems: string[] = []
  const [key] = readKeys(env, 'GEOSWAP_GUARDIAN_KEY', ['guardian'], problems)
  if (!key || problems.length > 0) throw new UsageError(problems.join('\n'))
  const account = privateKeyToAccount(key.reveal() as Hex)
  if (guardian !== undefined && isAddressEqual(account.address, guardian as Address)) return account
  throw new UsageError(
    `The key belongs to ${account.address}, and the guardian is ${guardian ?? 'not configured'}.`,
  )
}

async function openReady(
  chain: EvmChainConfig,
  account: PrivateKeyAccount | undefined,
): Promise<ChainWallet> {
  if (!account) throw new UsageError('GEOSWAP_TREASURY_KEY is not set.')
  const wallet = await openWallet(chain, account)
  await refuseUnfunded(wallet, chain, account.address)
  return wallet
}

async function refuseUnfunded(
  { client }: ChainWallet,
  chain: EvmChainConfig,
  address: Address,
): Promise<void> {
  if ((await client.getBalance({ address })) > 0n) return
  throw new UsageError(`No gas at ${address} on ${chain.name}: it pays for its calls.`)
}

type Batch = { chain: EvmChainConfig; calls: readonly TreasuryCall[]; output: Output }

async function sendAll(wallet: ChainWallet, { chain, calls, output }: Batch): Promise<void> {
  for (const [index, { to, value, data, text }] of calls.entries()) {
    const name = `${chain.name}: call ${index + 1} of ${calls.length}, ${text}`
    try {
      const { txHash } = await wallet.send({ to, value, data })
      output.out(`${name}\n  in a block: ${txHash}`)
    } catch (error) {
      const rest = `Later calls on ${chain.name} were not sent. Run it again when the reason is gone.`
      throw new Error(`${name}\n  failed: ${revertIn(error) ?? describeError(error)}\n${rest}`, {
        cause: error,
      })
    }
  }
}

type SafeBatch = {
  chainId: number
  name: string
  treasury: Address
  calls: readonly TreasuryCall[]
  at: number
}

/** A batch as the Transaction Builder of a Safe imports it. It shows methods that it encodes itself. */
export function toSafeBatch({ chainId, name, treasury, calls, at }: SafeBatch): object {
  return {
    version: '1.0',
    chainId: String(chainId),
    createdAt: at,
    meta: {
      name: `geoswap treasury on ${name}`,
      description: calls.map(({ text }) => text).join('\n'),
      txBuilderVersion: '1.18.0',
      createdFromSafeAddress: treasury,
      createdFromOwnerAddress: '',
    },
    transactions: calls.map(toTransaction),
  }
}

function toTransaction({ to, value, data, method }: TreasuryCall): object {
  const sent = { to, value: String(value) }
  if (!method) return { ...sent, data, contractMethod: null, contractInputsValues: null }
  const { name, inputs, stateMutability } = method.abi
  const values = Object.values(method.args)
  return {
    ...sent,
    data: null,
    contractMethod: {
      name,
      payable: stateMutability === 'payable',
      inputs: inputs.map(({ name = '', type, internalType = type }) => ({ name, type, internalType })),
    },
    contractInputsValues: Object.fromEntries(
      inputs.map((input, index) => [input.name ?? '', textOf(values[index])]),
    ),
  }
}
