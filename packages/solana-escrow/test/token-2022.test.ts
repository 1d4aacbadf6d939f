import type { Address } from '@solana/kit'
import { describe, expect, it } from 'vitest'
import { claimInstruction, refundInstruction } from '../src/instructions.ts'
import { TOKEN_2022_PROGRAM } from '../src/terms.ts'
import { newAddress } from './chain.ts'
import { tokenAccountData, tokensOf } from './tokens.ts'
import { AMOUNT, createWorld, DEADLINE, deliver, lock, type World } from './world.ts'

type Extension = { kind: number; value: Uint8Array }

const IMMUTABLE_OWNER: Extension = { kind: 7, value: new Uint8Array() }
const MEMO_REQUIRED: Extension = { kind: 8, value: Uint8Array.of(1) }
const withheld: Extension = { kind: 2, value: Uint8Array.of(5, 0, 0, 0, 0, 0, 0, 0) }
const feeOfZero: Extension = { kind: 1, value: new Uint8Array(108) }

/** Those of mints that swaps are quoted for, and that change the size of the mint. */
const allowed: readonly Extension[] = [
  { kind: 3, value: new Uint8Array(32).fill(9) },
  { kind: 10, value: new Uint8Array(52) },
  { kind: 18, value: new Uint8Array(64) },
]

/** The type byte of a mint (1) or an account (2) at 165, then kind, length and value of each extension. */
function extend(data: Uint8Array, type: number, extensions: readonly Extension[]): Uint8Array {
  const padded = [...data, ...new Uint8Array(165 - data.length)]
  const entries = extensions.flatMap(({ kind, value }) => [kind, 0, value.length, 0, ...value])
  return Uint8Array.from([...padded, type, ...entries])
}

function extendAccount(
  { chain }: World,
  address: Address,
  type: number,
  extensions: readonly Extension[],
): void {
  const account = chain.get(address)
  if (!account) throw new Error('There is no such account')
  const data = extend(account.data.slice(0, type === 1 ? 82 : 165), type, extensions)
  chain.set(address, { ...account, data, lamports: chain.rent(data.length) })
}

describe('Token-2022', () => {
  it.each(['claim', 'refund'] as const)(
    'pays a %s and a delivery of a mint with the allowed extensions',
    async (way) => {
      const world = await createWorld('Token-2022')
      const { chain, terms, token, recipient } = world
      extendAccount(world, token.mint, 1, allowed)
      const locked = await lock(world)
      const instruction =
        way === 'claim'
          ? await claimInstruction(chain.program, { terms, token })
          : await refundInstruction(chain.program, { terms, token, attested: true })

      const paid = chain.run(instruction)
      const delivered = await deliver(world)

      expect([locked.ok, paid.ok, delivered.ok]).toEqual([true, true, true])
      expect(await tokensOf(chain, recipient, token)).toBe(100_000_000n + AMOUNT)
    },
  )

  it('does not close an account that withholds fees, and the wallet gets its tokens all the same', async () => {
    const world = await createWorld('Token-2022')
    const { chain, terms, token, input } = world
    await lock(world)
    extendAccount(world, token.mint, 1, [feeOfZero])
    extendAccount(world, input, 2, [IMMUTABLE_OWNER, withheld])
    chain.setTime(DEADLINE + 1n)
    const call = { terms, token, attested: false }

    const closing = chain.run(await refundInstruction(chain.program, call))
    const keeping = chain.run(await refundInstruction(chain.program, { ...call, keepRent: true }))

    expect([closing.ok, keeping.ok]).toEqual([false, true])
    expect(await tokensOf(chain, terms.wallet, token)).toBe(100_000_000n)
  })

  it('asks for a memo where the wallet did, and a refund goes to another account of the wallet', async () => {
    const world = await createWorld('Token-2022')
    const { chain, terms, token } = world
    await lock(world)
    const refund = await refundInstruction(chain.program, { terms, token, attested: true })
    extendAccount(world, refund.accounts[2]?.address as Address, 2, [MEMO_REQUIRED])
    const destination = newAddress()
    const data = tokenAccountData({ mint: token.mint, owner: terms.wallet, amount: 0n })
    chain.set(destination, { lamports: chain.rent(165), owner: TOKEN_2022_PROGRAM, data })

    const refused = chain.run(refund)
    const paid = chain.run(
      await refundInstruction(chain.program, { terms, token, attested: true, destination }),
    )

    expect([refused.ok, paid.ok]).toEqual([false, true])
    const held = chain.get(destination)?.data
    expect(held && new DataView(held.buffer, held.byteOffset).getBigUint64(64, true)).toBe(AMOUNT)
  })
})
