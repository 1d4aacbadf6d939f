import { type Address, generateKeyPairSigner, getProgramDerivedAddress } from '@solana/kit'
import {
  AuthorityType,
  getFreezeAccountInstruction,
  getSetAuthorityInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SOL, type SolanaWorld, startSolanaWorld, type TestMint } from '../../../test/support/solana.ts'
import { NATIVE_TOKEN, readAccounts, TOKEN_2022_PROGRAM_ADDRESS } from './accounts.ts'
import { canPay, readWallet } from './builder.ts'
import { isOnCurve, toBase64 } from './bytes.ts'
import { readRecipient } from './recipient.ts'

let world: SolanaWorld
let usdc: TestMint
let token2022: TestMint
beforeAll(async () => {
  world = await startSolanaWorld()
  usdc = await world.createMint()
  token2022 = await world.createMint({ program: TOKEN_2022_PROGRAM_ADDRESS })
})
afterAll(() => world.chain.stop())

const read = (recipient: string, token: TestMint | typeof NATIVE_TOKEN = usdc, amount = SOL) =>
  readRecipient(world.client, { recipient, token, amount, rent: world.rent })

async function newPda(): Promise<string> {
  const seeds = [crypto.getRandomValues(new Uint8Array(16))]
  const [address] = await getProgramDerivedAddress({ programAddress: TOKEN_PROGRAM_ADDRESS, seeds })
  return address
}

const newAddress = async (): Promise<string> => (await generateKeyPairSigner()).address

test('a wallet without a token account can receive, at the cost of its rent', async () => {
  const fresh = await newAddress()

  expect(await read(fresh)).toMatchObject({ kind: 'missing', rentLamports: 2_039_280n })
  expect(await read(fresh, token2022)).toMatchObject({ kind: 'missing', rentLamports: 2_074_080n })
})

test('a wallet with a token account is ready, under either program', async () => {
  const owner = await newAddress()
  for (const token of [usdc, token2022]) {
    const account = await world.give(token, owner, 0n)

    expect(await read(owner, token)).toEqual({ kind: 'ready', account })
  }
})

test('lamports that a stranger sent to the missing account change nothing', async () => {
  const owner = await newAddress()
  const missing = await read(owner)
  if (missing.kind !== 'missing') throw new Error(missing.kind)

  await world.send(missing.account, SOL)

  expect(await read(owner)).toEqual(missing)
})

test('an account with another owner is refused', async () => {
  const owner = await world.fundedSigner()
  const account = await world.give(usdc, owner.address, 5n)
  await world.run(owner, [
    getSetAuthorityInstruction({
      owned: account,
      owner,
      authorityType: AuthorityType.AccountOwner,
      newAuthority: world.authority.address,
    }),
  ])

  expect(await read(owner.address)).toEqual({ kind: 'refused', why: 'foreignOwner' })
  const query = { wallet: owner.address, token: usdc, rent: world.rent }
  expect((await readWallet(world.client, query)).balance).toBe(0n)
})

test.each([
  ['the token program', () => usdc],
  ['Token-2022', () => token2022],
])('a frozen account of %s is refused, and cannot pay', async (_, tokenOf) => {
  const token = tokenOf()
  const owner = await newAddress()
  const account = await world.give(token, owner, 5n)
  const freeze = { account, mint: token.mint as Address, owner: world.payer }
  await world.run(world.payer, [
    getFreezeAccountInstruction(freeze, { programAddress: token.program as Address }),
  ])

  expect(await read(owner, token)).toEqual({ kind: 'refused', why: 'frozen' })
  const wallet = await readWallet(world.client, { wallet: owner, token, rent: world.rent })
  expect(wallet).toMatchObject({ balance: 5n, frozen: true })
  expect(canPay(wallet, 5n)).toBe(false)
})

test('an account of another mint or program at its address is refused', async () => {
  const owner = await newAddress()
  const missing = await read(owner)
  if (missing.kind !== 'missing') throw new Error(missing.kind)
  const other = await world.createMint()
  const [foreign] = await readAccounts(world.client, { addresses: [await world.give(other, owner, 0n)] })
  const place = async (program: string) => {
    const data = [toBase64(foreign?.data ?? new Uint8Array()), 'base64']
    await world.dev.dev_setAccount(missing.account, { lamports: '9000000', owner: program, data }).send()
    await world.advance(1)
    return read(owner)
  }

  expect(await place(TOKEN_PROGRAM_ADDRESS)).toEqual({ kind: 'refused', why: 'notItsTokenAccount' })
  expect(await place(TOKEN_2022_PROGRAM_ADDRESS)).toEqual({ kind: 'refused', why: 'notItsTokenAccount' })
  expect(await place(world.payer.address)).toEqual({ kind: 'refused', why: 'notItsTokenAccount' })
})

test('a mint, a token account or a program is not a recipient', async () => {
  const account = await world.give(usdc, world.authority.address, 0n)

  for (const token of [usdc, NATIVE_TOKEN]) {
    expect(await read(usdc.mint, token)).toEqual({ kind: 'refused', why: 'isTokenAccountOrMint' })
    expect(await read(account, token)).toEqual({ kind: 'refused', why: 'isTokenAccountOrMint' })
    expect(await read(TOKEN_PROGRAM_ADDRESS, token)).toEqual({ kind: 'refused', why: 'isProgram' })
  }
})

test('the vault or the fee payer is not a recipient', async () => {
  const ours = [world.feePayer.address, world.authority.address]
  for (const token of [usdc, NATIVE_TOKEN]) {
    const query = { recipient: world.authority.address, token, amount: SOL, rent: world.rent, ours }

    expect(await readRecipient(world.client, query)).toEqual({ kind: 'refused', why: 'isOurs' })
  }
})

test('an address off the curve receives only if it already has an account', async () => {
  const pda = await newPda()
  expect(isOnCurve(pda)).toBe(false)

  expect(await read(pda)).toEqual({ kind: 'refused', why: 'offCurve' })
  expect(await read(pda, NATIVE_TOKEN)).toEqual({ kind: 'refused', why: 'offCurve' })
  await world.fund(pda)
  const account = await world.give(usdc, pda, 0n)
  expect(await read(pda)).toEqual({ kind: 'ready', account })
  expect(await read(pda, NATIVE_TOKEN)).toEqual({ kind: 'ready', account: pda })
})

test('a new account receives at least the rent minimum', async () => {
  const fresh = await newAddress()
  const { emptyLamports } = world.rent

  expect(await read(fresh, NATIVE_TOKEN, emptyLamports)).toEqual({ kind: 'ready', account: fresh })
  const short = await read(fresh, NATIVE_TOKEN, emptyLamports - 1n)
  expect(short).toEqual({ kind: 'refused', why: 'belowRentMinimum' })
  await world.send(fresh, emptyLamports)
  expect(await read(fresh, NATIVE_TOKEN, 1n)).toEqual({ kind: 'ready', account: fresh })
})
