import { findAuthority, toHeldToken } from '@geoswap/solana-escrow'
import type { Address } from '@solana/kit'
import type { Heads, InputBuilder } from '../chain.ts'
import { lifetimeOf } from './blocks.ts'
import { termsOf, toProgramToken } from './escrow.ts'
import { accountUnits, unitsWithMargin } from './fees.ts'
import { type Lifetime, readBlockhash } from './heads.ts'
import { buildInput, type InputRequest } from './input.ts'
import { describeInput } from './input-terms.ts'
import type { SolanaParts } from './parts.ts'
import { checkSignedInput } from './signed-input.ts'
import { simulate } from './simulate.ts'
import { readWallet } from './wallet.ts'

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
      const built = await buildInput(settings, { ...request, ...(units !== undefined && { units }) })
      return {
        unsignedTransaction: built.unsignedTransaction,
        messageHash: built.messageHash,
        lastValid: built.lastValidBlockHeight,
        lifeMs: LIFE_BLOCKS * blockMs,
        operation: await describeInput(settings, built.unsignedTransaction),
      }
    },
    check: (signed) => checkSignedInput(parts, signed),
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
