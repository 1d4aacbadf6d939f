import { hashCode, PUBLISHED_CODE } from '@geoswap/protocol'
import { type Address, getAddress, type Hex, slice, toFunctionSelector } from 'viem'
import { SwapRefusedError, TamperedOperationError } from '../errors.ts'
import { differs } from './difference.ts'
import { readAddress } from './read-fields.ts'
import type { KnownContracts } from './terms.ts'

/** The delegate or the escrow, as the service or the caller names it. */
export type NamedContracts = { account?: unknown; escrow?: unknown }

/** Chain reads that identify the contracts. */
export type CodeReads = {
  chainId(): Promise<number>
  code(address: Address): Promise<Hex | undefined>
  /** Called only after the code of the escrow was compared with the published code. */
  account(escrow: Address): Promise<Address>
  vault(escrow: Address): Promise<Address>
}

export function readsOf(rpcUrl: string): CodeReads {
  const ask = async (method: string, ...params: unknown[]) => (await callNode(rpcUrl, method, params)) as Hex
  const readAddressOf = async (to: Address, name: 'ACCOUNT' | 'VAULT') => {
    const word = await ask('eth_call', { to, data: toFunctionSelector(`${name}()`) }, 'latest')
    return getAddress(slice(word, 12, 32))
  }
  return {
    chainId: async () => Number(await ask('eth_chainId')),
    code: (address) => ask('eth_getCode', address, 'latest'),
    account: (escrow) => readAddressOf(escrow, 'ACCOUNT'),
    vault: (escrow) => readAddressOf(escrow, 'VAULT'),
  }
}

/**
 * Returns the deployment that the named contract belongs to. Throws unless delegate and escrow run the
 * published code and name each other. The delegate can then move only what the wallet signs for, and only
 * into this escrow.
 */
export async function verifyDeployment(
  chain: CodeReads,
  chainId: number,
  named: NamedContracts,
): Promise<Required<Omit<KnownContracts, 'attester'>>> {
  const actual = await chain.chainId()
  if (actual !== chainId) {
    const message = `The node for chain ${chainId} belongs to chain ${actual}.`
    throw new SwapRefusedError('UNPINNED', message)
  }
  const escrow =
    named.account === undefined
      ? readAddress(named, 'escrow')
      : await readEscrow(chain, readAddress(named, 'account'))
  await assertPublished(await chain.code(escrow), 'escrow', escrow)
  const account = getAddress(await chain.account(escrow))
  const differences = [
    ...(named.account === undefined
      ? differs('account.escrow', await readEscrow(chain, account), escrow)
      : differs('escrow.account', account, readAddress(named, 'account'))),
    ...(named.escrow === undefined ? [] : differs('account.escrow', escrow, readAddress(named, 'escrow'))),
  ]
  if (differences.length > 0) throw new TamperedOperationError(differences)
  return { account, escrow, vault: getAddress(await chain.vault(escrow)) }
}

/**
 * Reads the delegate's only immutable. Every occurrence is compared, since the code may use one and return
 * another.
 */
async function readEscrow(chain: CodeReads, account: Address): Promise<Address> {
  const code = await chain.code(account)
  assertPublished(code, 'account', account)
  const held = PUBLISHED_CODE.account.immutables.map((start) => slice(code, start, start + 32))
  const [first] = held
  if (first === undefined || held.some((word) => word !== first) || !/^0x0{24}/.test(first))
    throw notPublished('account', account)
  return getAddress(slice(first, 12))
}

function assertPublished(
  code: Hex | undefined,
  role: keyof typeof PUBLISHED_CODE,
  address: Address,
): asserts code is Hex {
  const { hash, immutables } = PUBLISHED_CODE[role]
  if (code === undefined || hashCode(code, { immutables }) !== hash) throw notPublished(role, address)
}

function notPublished(role: string, address: Address): TamperedOperationError {
  return new TamperedOperationError([
    { field: role, expected: `the published ${role} contract`, actual: `other code at ${address}` },
  ])
}

const TIMEOUT_MS = 10_000

type Answer = { result?: unknown; error?: { message?: string } }

/**
 * Makes one JSON-RPC call to the caller's node. A full client would be larger than the rest of this package.
 */
export async function callNode(rpcUrl: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const { result, error } = (await response.json()) as Answer
  if (error || result === undefined) throw new Error(`The node answers ${method} with ${error?.message}`)
  return result
}
