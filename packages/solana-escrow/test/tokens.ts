import { type Address, getAddressEncoder } from '@solana/kit'
import { findTokenAccount } from '../src/accounts.ts'
import { NATIVE_TOKEN, type Token, toHeldToken, WRAPPED_SOL } from '../src/terms.ts'
import { type Chain, newAddress } from './chain.ts'

const MINT_BYTES = 82
const TOKEN_ACCOUNT_BYTES = 165

/** A mint as its program would have written it. */
export function createMint(chain: Chain, program: Address, decimals = 6): Token {
  const mint = newAddress()
  const data = new Uint8Array(MINT_BYTES)
  const view = new DataView(data.buffer)
  view.setBigUint64(36, 10n ** 15n, true)
  data[44] = decimals
  data[45] = 1
  chain.set(mint, { lamports: chain.rent(MINT_BYTES), owner: program, data })
  return { mint, program, decimals }
}

export type Holding = { mint: Address; owner: Address; amount: bigint; native?: bigint; frozen?: boolean }

export function tokenAccountData({ mint, owner, amount, native, frozen = false }: Holding): Uint8Array {
  const data = new Uint8Array(TOKEN_ACCOUNT_BYTES)
  const view = new DataView(data.buffer)
  data.set(getAddressEncoder().encode(mint), 0)
  data.set(getAddressEncoder().encode(owner), 32)
  view.setBigUint64(64, amount, true)
  data[108] = frozen ? 2 : 1
  if (native !== undefined) {
    view.setUint32(109, 1, true)
    view.setBigUint64(113, native, true)
  }
  return data
}

/** Gives `owner` an associated token account with `amount`. */
export async function holdTokens(
  chain: Chain,
  { owner, token, amount }: { owner: Address; token: Token; amount: bigint },
): Promise<Address> {
  const { mint, program } = toHeldToken(token)
  const address = await findTokenAccount(owner, token)
  const rent = chain.rent(TOKEN_ACCOUNT_BYTES)
  const native = mint === WRAPPED_SOL ? rent : undefined
  const data = tokenAccountData({ mint, owner, amount, ...(native !== undefined && { native }) })
  chain.set(address, { lamports: rent + (native === undefined ? 0n : amount), owner: program, data })
  return address
}

export async function tokensOf(chain: Chain, owner: Address, token: Token): Promise<bigint | undefined> {
  if (token === NATIVE_TOKEN) return chain.balance(owner)
  const account = chain.get(await findTokenAccount(owner, token))
  return account && new DataView(account.data.buffer).getBigUint64(64, true)
}
