import { hashDelivery, toBytes32 } from '@geoswap/protocol'
import type { Address } from '@solana/kit'
import type { Delivery, Order } from '../src/instructions.ts'
import type { OpId } from '../src/terms.ts'

type Ordered = { order: Order; vault: Address; mint: Address; recipient: Address }

/** The op id of a delivery, as the wallet signed it. */
export function opIdOf({ order, vault, mint, recipient }: Ordered): OpId {
  return hashDelivery({
    ...order,
    vault: toBytes32(vault),
    outputToken: toBytes32(mint),
    recipient: toBytes32(recipient),
  })
}

/** The delivery with the op id that belongs to it. */
export function named(delivery: Omit<Delivery, 'opId'>): Delivery {
  return { ...delivery, opId: opIdOf({ ...delivery, mint: delivery.token.mint }) }
}
