import type { KeyPairSigner } from '@solana/kit'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { accountOf, type Changed, type TransferOffer, toTransfer, transferHeader } from '../../x402-solana.ts'
import type { Payer, Scene } from './scene.ts'

/** A payer whose payment is a transaction of its own, which the service signs too. */
export async function payerOnSolana(
  { solana }: Scene,
  wallet: KeyPairSigner,
  offer: TransferOffer,
): Promise<Payer> {
  const sign = async (changed?: Changed) => transferHeader(offer, await toTransfer(wallet, offer, changed))
  return {
    first: await sign(),
    second: () => sign({ units: 30_000 }),
    async wrong(ask) {
      const other = await ask<TransferOffer>()
      const bytes = Buffer.from(await toTransfer(wallet, offer), 'base64')
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
      return [
        await sign({ amount: BigInt(offer.amount) - 1n }),
        // A blockhash that no node knows, as of a payment that comes too late.
        await sign({ blockhash: offer.payTo }),
        await sign({ memo: other?.extra.memo ?? 'none' }),
        await sign({ feePayer: wallet.address }),
        transferHeader(offer, bytes.toString('base64')),
      ]
    },
    async takeBack() {
      const { payer } = solana
      const mint = solana.token('USDC')
      const [source, destination] = await Promise.all([
        accountOf(wallet.address, mint),
        accountOf(payer.address, mint),
      ])
      const account = { payer, ata: destination, owner: payer.address, mint }
      const moved = { source, destination, authority: wallet, mint, decimals: 6 }
      // It fails if the payment came first.
      await solana
        .send(
          getCreateAssociatedTokenIdempotentInstruction(account),
          getTransferCheckedInstruction({ ...moved, amount: BigInt(offer.amount) }),
        )
        .catch(() => undefined)
    },
  }
}
