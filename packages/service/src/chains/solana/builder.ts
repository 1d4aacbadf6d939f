import { findAuthority, toHeldToken } from '@geoswap/solana-escrow'
import type { Address } from '@solana/kit'
import type { Heads, InputBuilder } from '../chain.ts'
import {
  isNative,
  type RawAccount,
  readAccountsAt,
  SYSTEM_PROGRAM,
  type Token,
  toTokenAccount,
  toTokenAccountAddress,
} from './accounts.ts'
import type { SolanaClient } from './client.ts'
import { type Rent, termsOf, toProgramToken } from './facts.ts'
import { accountUnits, unitsWithMargin } from './fees.ts'
import { type Lifetime, lifetimeOf, readBlockhash } from './heads.ts'
import { buildInput, describeInput, type InputRequest } from './input.ts'
import { offerPayment, readPaidInput } from './paid-input.ts'
import type { SolanaParts } from './parts.ts'
import { checkSignedInput } from './signed-input.ts'
import { simulate } from './simulate.ts'

// Blocks for which a blockhash is valid, less the time until it is confirmed, shared and handed out.
const LIFE_BLOCKS = 140

/** Builds inputs and checks the signed ones; holds no key. */
export function createInputBuilder(parts: SolanaParts, { blockMs }: { blockMs: number }): InputBuilder {
  const { client, settings, facts } = parts
  return {
    async readPayer({ wallet, token }) {
      const [rent, of] = await Promise.all([facts.rent(), facts.tokenOf(token)])
      const { balance, frozen, floor, slot } = await readWallet(client, { wallet, token: of, rent })
      return { balance, block: slot, minimum: floor, isFrozen: frozen ?? false }
    },
    async build({ opHash, wallet, token, amount, locker, refundDeadline, heads }) {
      const [of, lifetime, microLamportsPerUnit] = await Promise.all([
        ...([facts.tokenOf(token), readLifetime(parts, heads), facts.priorityPrice()] as const),
      ])
      const input = { opHash, wallet, token: of, amount, feePayer: locker, refundDeadline }
      const request = { ...input, lifetime, microLamportsPerUnit }
      const units = await unitsOf(parts, request)
      const built = await buildInput(settings, { ...request, units })
      return {
        unsignedTransaction: built.unsignedTransaction,
        messageHash: built.messageHash,
        lastValid: built.lastValidBlockHeight,
        lifeMs: LIFE_BLOCKS * blockMs,
        operation: await describeInput(settings, built.unsignedTransaction),
      }
    },
    check: (signed) => checkSignedInput(parts, signed),
    offer: async (input) => offerPayment(parts, input, await readLifetime(parts, input.heads)),
    readPaid: (transaction) => readPaidInput(parts, transaction),
  }
}

async function readLifetime({ client }: SolanaParts, heads: Heads | undefined): Promise<Lifetime> {
  return (heads && lifetimeOf(heads)) ?? readBlockhash(client)
}

/** The units of the new account depend on its address: they are measured without it and added. */
async function unitsOf({ client, settings, facts }: SolanaParts, request: InputRequest) {
  const { opHash: hash, wallet, feePayer: locker, refundDeadline, token, amount: inputAmount } = request
  const terms = termsOf(settings, { hash, wallet, locker, refundDeadline, inputAmount })
  const [authority] = await findAuthority(settings.program as Address, terms)
  const added = await accountUnits(authority, toHeldToken(toProgramToken(token)))
  const base = await facts.unitsOf(`input of ${token.mint}`, async () => {
    const { unsignedTransaction: raw } = await buildInput(settings, request)
    const tried = await simulate(client, { raw, replaceBlockhash: false })
    return tried.kind === 'ok' ? Number(tried.units) - added : undefined
  })
  return base === undefined ? undefined : unitsWithMargin(base + added)
}

type SolanaWallet = {
  /** The spendable balance; 0 if the associated token account is missing or no longer the wallet's. */
  balance: bigint
  lamports: bigint
  /** Absent for the native coin. */
  tokenAccount?: string
  frozen?: boolean
  /** For the native coin: the amount that must stay behind unless the whole balance is spent. */
  floor: bigint
  slot: bigint
}

type Query = { wallet: string; token: Pick<Token, 'mint' | 'program'>; rent: Rent }

export async function readWallet(
  client: SolanaClient,
  { wallet, token, rent }: Query,
): Promise<SolanaWallet> {
  if (isNative(token)) {
    const { accounts, slot } = await readAccountsAt(client, { addresses: [wallet] })
    return { ...toNativeWallet(accounts[0], rent), slot }
  }
  const tokenAccount = await toTokenAccountAddress({ owner: wallet, ...token })
  const { accounts, slot } = await readAccountsAt(client, { addresses: [wallet, tokenAccount] })
  const [account, held] = accounts
  const tokens = held?.owner === token.program ? toTokenAccount(held) : undefined
  const isOwn = tokens?.owner === wallet && tokens.mint === token.mint
  return {
    balance: isOwn ? tokens.amount : 0n,
    lamports: account?.lamports ?? 0n,
    tokenAccount,
    frozen: tokens?.frozen ?? false,
    floor: 0n,
    slot,
  }
}

/** The System program moves lamports only out of its own accounts without data. */
function toNativeWallet(account: RawAccount | undefined, { emptyLamports }: Rent) {
  const lamports = account?.lamports ?? 0n
  const isPlain = account?.owner === SYSTEM_PROGRAM && account.data.length === 0
  return { balance: isPlain ? lamports : 0n, lamports, floor: emptyLamports }
}

export function canPay({ balance, floor, frozen }: SolanaWallet, amount: bigint): boolean {
  if (frozen || amount > balance) return false
  return amount === balance || balance - amount >= floor
}
