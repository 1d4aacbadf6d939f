import { createAccountInstruction, deliverInstruction, type Order } from '@geoswap/solana-escrow'
import { type Address, getBase58Decoder, signBytes } from '@solana/kit'
import { toBase64 } from './bytes.ts'
import { opIdOf, toProgramToken } from './escrow.ts'
import { markerUnits, paymentUnits } from './fees.ts'
import type { Lifetime } from './heads.ts'
import { budgetInstructions, compile, joinWire, memoInstruction, splitWire } from './message.ts'
import { isNative, type Token } from './mint.ts'
import type { SolanaChainSettings, SolanaSigner } from './settings.ts'
import type { SignedTransaction } from './signed-input.ts'

type Payers = Pick<SolanaChainSettings, 'program' | 'vault'> & { feePayer: string; markerLamports: bigint }

export type Payment = {
  deliveryHash: string
  /** The paid wallet, not its token account. */
  to: string
  token: Token
  amount: bigint
  /** The other terms that the wallet signed. The program refuses to pay others, or later. */
  order: Order
  /** Pays the rent of the recipient's token account if it is still missing when this lands. */
  createRecipientAccount?: boolean
  /** The compute limit from a simulation; by default a limit that suffices for every payment. */
  units?: number
  microLamportsPerUnit: bigint
  lifetime: Lifetime
}

/** Compiles a delivery without signatures. Of all payments of one delivery at most one lands: it creates the marker. */
export async function compilePayment(payers: Payers, payment: Payment): Promise<Uint8Array> {
  const { program, vault, feePayer, markerLamports } = payers
  const { deliveryHash, to, token, amount, order, microLamportsPerUnit, lifetime } = payment
  if (feePayer === vault || feePayer === to) throw new Error('The fee payer takes no part in a swap')
  const createAccount = payment.createRecipientAccount === true && !isNative(token)
  const delivery = {
    opId: opIdOf(deliveryHash),
    token: toProgramToken(token),
    amount,
    markerLamports,
    vault: vault as Address,
    payer: feePayer as Address,
    recipient: to as Address,
    order,
  }
  const units =
    payment.units ?? paymentUnits({ createAccount }) + (await markerUnits(program, { vault, deliveryHash }))
  return compile({
    feePayer,
    lifetime,
    instructions: [
      ...budgetInstructions({ units, microLamportsPerUnit }),
      memoInstruction(deliveryHash),
      ...(createAccount
        ? [
            await createAccountInstruction({
              payer: delivery.payer,
              owner: delivery.recipient,
              token: delivery.token,
            }),
          ]
        : []),
      await deliverInstruction(program as Address, delivery),
    ],
  })
}

/** Adds the signatures of fee payer and vault to a compiled payment. */
export async function signPayment(
  wire: Uint8Array,
  [feePayer, vault]: readonly [SolanaSigner, SolanaSigner],
): Promise<SignedTransaction> {
  const message = splitWire(wire, { count: 2 })?.message
  if (!message) throw new Error('A payment is signed by the fee payer and the vault')
  const [first, second] = await Promise.all([
    signBytes(feePayer.keyPair.privateKey, message),
    signBytes(vault.keyPair.privateKey, message),
  ])
  return { raw: toBase64(joinWire([first, second], message)), txHash: getBase58Decoder().decode(first) }
}
