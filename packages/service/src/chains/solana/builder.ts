import type { InputBuilder } from '../chain.ts'
import { unitsWithMargin } from './fees.ts'
import { readBlockhash } from './heads.ts'
import { buildInput } from './input.ts'
import { describeInput } from './input-terms.ts'
import type { SolanaParts } from './parts.ts'
import { checkSignedInput } from './signed-input.ts'
import { simulate } from './simulate.ts'
import { readWallet } from './wallet.ts'

// Blocks for which a blockhash is valid, less the time until it is confirmed and handed out.
const LIFE_BLOCKS = 145

/** Builds inputs and checks the signed ones; holds no key. */
export function createInputBuilder(parts: SolanaParts, { blockMs }: { blockMs: number }): InputBuilder {
  const { client, settings, facts } = parts
  return {
    async readPayer({ wallet, token }) {
      const [rent, of] = await Promise.all([facts.rent(), facts.tokenOf(token)])
      const { balance, frozen, floor, slot } = await readWallet(client, { wallet, token: of, rent })
      return { balance, block: slot, minimum: floor, isFrozen: frozen ?? false }
    },
    async build({ opHash, wallet, token, amount }) {
      const [rent, of, lifetime, microLamportsPerUnit] = await Promise.all([
        ...([facts.rent(), facts.tokenOf(token), readBlockhash(client), facts.priorityPrice()] as const),
      ])
      const request = {
        opHash,
        wallet,
        token: of,
        amount,
        rent,
        lifetime,
        microLamportsPerUnit,
        feePayer: settings.feePayers.input,
        intake: settings.vaults.intake,
        markerKey: settings.markerKey,
      }
      const units = await facts.unitsOf(`input of ${token}`, async () => {
        const { unsignedTransaction: raw } = await buildInput(request)
        const tried = await simulate(client, { raw, replaceBlockhash: false })
        return tried.kind === 'ok' ? unitsWithMargin(tried.units) : undefined
      })
      const built = await buildInput({ ...request, ...(units !== undefined && { units }) })
      return {
        unsignedTransaction: built.unsignedTransaction,
        messageHash: built.messageHash,
        lastValid: built.lastValidBlockHeight,
        lifeMs: LIFE_BLOCKS * blockMs,
        operation: describeInput(built.unsignedTransaction),
      }
    },
    check: (signed) => checkSignedInput(signed),
  }
}
