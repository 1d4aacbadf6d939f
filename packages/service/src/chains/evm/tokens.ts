import { signedTokenAbi, type TokenDomain, transferProbeAbi, transferProbeRuntime } from '@geoswap/protocol'
import {
  type Address,
  decodeFunctionResult,
  domainSeparator,
  encodeFunctionData,
  type PublicClient,
  parseAbi,
  type ReadContractParameters,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { TokenSigning } from '../../swap/catalog.ts'
import { attempt, orUndefined } from './attempt.ts'
import { readBalance } from './reads.ts'
import { STRANGE_GAS, strangeReads } from './strange-reads.ts'
import type { EvmLock, TriedToken } from './ways.ts'

/** A token, and the escrow that takes inputs of it. */
type InputToken = TriedToken & { chainId: number }

/**
 * Finds which signatures move a token, by its own answers: its EIP-712 domain has to give its DOMAIN_SEPARATOR, and a
 * signature of nothing, by a key made for it, has to be accepted in a call that changes nothing.
 */
export async function readTokenSigning(
  client: PublicClient,
  locks: readonly EvmLock[],
  input: InputToken,
): Promise<TokenSigning | undefined> {
  const domain = await readDomain(client, input)
  if (!domain) return undefined
  const account = privateKeyToAccount(generatePrivateKey())
  const accepted = await Promise.all(
    locks.map(async ({ name, tryOn }) => {
      if (!tryOn) return []
      const { kind } = await attempt(client, () => tryOn(client, input, { domain, account }))
      return kind === 'ok' ? [name] : []
    }),
  )
  const methods = accepted.flat()
  return methods.length > 0 ? { name: domain.name, version: domain.version, methods } : undefined
}

/** The domain that gives the token's separator: as it describes itself, or by its name and version. */
async function readDomain(
  client: PublicClient,
  { chainId, token }: InputToken,
): Promise<TokenDomain | undefined> {
  const call = { address: token, abi: signedTokenAbi } as const
  const reads = strangeReads(client)
  const orNone = <T>(ask: () => Promise<T>) => orUndefined(client, ask)
  const [separator, described, name, version] = await Promise.all([
    orNone(() => reads.readContract({ ...call, functionName: 'DOMAIN_SEPARATOR' })),
    orNone(() => reads.readContract({ ...call, functionName: 'eip712Domain' })),
    orNone(() => reads.readContract({ ...call, functionName: 'name' })),
    orNone(() => reads.readContract({ ...call, functionName: 'version' })),
  ])
  const named = [
    { name: described?.[1], version: described?.[2] },
    { name, version: version ?? '1' },
  ]
  const domains = named.flatMap((each) =>
    each.name !== undefined && each.version !== undefined
      ? [{ name: each.name, version: each.version, chainId, verifyingContract: token }]
      : [],
  )
  return domains.find((domain) => domainSeparator({ domain }) === separator)
}

/** The number of the wallet's next permit. */
export function readPermitNonce(client: PublicClient, token: string, wallet: string): Promise<bigint> {
  const call = { address: token as Address, abi: signedTokenAbi, functionName: 'nonces' } as const
  return strangeReads(client).readContract({ ...call, args: [wallet as Address] })
}

type Listed = {
  token: Address
  vault: Address
  escrow: Address
  treasury: Address | undefined
  /** Whether its transfers are said to move exactly their amount. */
  isPlain: boolean
}

/** Functions of tokens whose balances change without a transfer: Lido's, Aave's, Ampleforth's, Origin's, Olympus'. */
const REBASING = parseAbi([
  'function sharesOf(address) view returns (uint256)',
  'function getTotalShares() view returns (uint256)',
  'function scaledBalanceOf(address) view returns (uint256)',
  'function rebasingCreditsPerToken() view returns (uint256)',
  'function gonsForBalance(uint256) view returns (uint256)',
])

/** Why a token cannot be listed: books and reservations need balances that only transfers change, by their amount. */
export async function findConductFault(client: PublicClient, listed: Listed): Promise<string | undefined> {
  return (await findRebasing(client, listed)) ?? (await findCharge(client, listed))
}

async function findRebasing(client: PublicClient, { token, vault }: Listed): Promise<string | undefined> {
  const answers = await Promise.all(
    REBASING.map(async ({ name, inputs: [input] }) => {
      const args = input === undefined ? [] : input.type === 'address' ? [vault] : [1n]
      const call = { address: token, abi: REBASING, functionName: name, args } as ReadContractParameters
      const { kind } = await attempt(client, () => strangeReads(client).readContract(call))
      return kind === 'ok' ? [name] : []
    }),
  )
  const [name] = answers.flat()
  return name && `changes balances without transfers, as its function ${name} shows`
}

/** Simulates a transfer of half of what the vault, or else the treasury, holds: a charge comes on top. */
async function findCharge(
  client: PublicClient,
  { token, vault, escrow, treasury, isPlain }: Listed,
): Promise<string | undefined> {
  for (const holder of treasury === undefined ? [vault] : [vault, treasury]) {
    const amount = (await readBalance(client, { owner: holder, token })) / 2n
    if (amount === 0n) continue
    const moved = await simulate(client, { token, holder, to: escrow, amount })
    if (!moved) continue
    const [lost, gained] = moved
    if (lost !== amount) return `takes ${lost} from the sender of ${amount}`
    return gained === amount || !isPlain
      ? undefined
      : `is not plain: it gives ${gained} to the recipient of ${amount}`
  }
  return undefined
}

type Sent = { token: Address; holder: Address; to: Address; amount: bigint }

/** Undefined if the token refuses it, or if the node cannot replace code in a call. */
async function simulate(client: PublicClient, { token, holder, to, amount }: Sent) {
  const call = { abi: transferProbeAbi, functionName: 'transferred' } as const
  const data = encodeFunctionData({ ...call, args: [token, to, amount] })
  const stateOverride = [{ address: holder, code: transferProbeRuntime.bytecode }]
  const answer = await client
    .call({ to: holder, data, stateOverride, gas: STRANGE_GAS })
    .catch(() => undefined)
  return answer?.data && decodeFunctionResult({ ...call, data: answer.data })
}
