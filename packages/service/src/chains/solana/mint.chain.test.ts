import { AccountRole, type Address, getAddressEncoder, type Instruction } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { getSyncNativeInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SolanaWorld, startSolanaWorld } from '../../../test/support/solana.ts'
import { readAccounts, readMint, TOKEN_2022_PROGRAM_ADDRESS, toTokenAccountAddress } from './accounts.ts'
import { NATIVE_SOL, toBase64 } from './bytes.ts'
import { readVaultBalances } from './reads.ts'

let world: SolanaWorld
beforeAll(async () => {
  world = await startSolanaWorld()
})
afterAll(() => world.chain.stop())

const key = (): number[] => [...getAddressEncoder().encode(world.authority.address)]
const none = (): number[] => Array.from({ length: 32 }, () => 0)

type Case = { name: string; bytes: number; data(): number[] }

// Each extension: its size in a mint, and Token-2022's instruction that writes it.
const REFUSED: Case[] = [
  {
    name: 'transferFeeConfig',
    bytes: 108,
    data: () => [26, 0, 1, ...key(), 1, ...key(), 0, 0, 255, 255, 255, 255, 255, 255, 255, 127],
  },
  { name: 'confidentialTransferMint', bytes: 65, data: () => [27, 0, ...key(), 1, ...none()] },
  { name: 'defaultAccountState', bytes: 1, data: () => [28, 0, 2] },
  { name: 'nonTransferable', bytes: 0, data: () => [32] },
  { name: 'permanentDelegate', bytes: 32, data: () => [35, ...key()] },
  { name: 'transferHook', bytes: 64, data: () => [36, 0, ...key(), ...none()] },
  { name: 'pausableConfig', bytes: 33, data: () => [44, 0, ...key()] },
]
const ACCEPTED: Case[] = [
  { name: 'mintCloseAuthority', bytes: 32, data: () => [25, 1, ...key()] },
  { name: 'defaultAccountState', bytes: 1, data: () => [28, 0, 1] },
  { name: 'interestBearingConfig', bytes: 52, data: () => [33, 0, ...key(), 100, 0] },
  { name: 'metadataPointer', bytes: 64, data: () => [39, 0, ...key(), ...key()] },
  { name: 'groupPointer', bytes: 64, data: () => [40, 0, ...key(), ...key()] },
  { name: 'groupMemberPointer', bytes: 64, data: () => [41, 0, ...key(), ...key()] },
  { name: 'scaledUiAmountConfig', bytes: 56, data: () => [43, 0, ...key(), 0, 0, 0, 0, 0, 0, 0, 64] },
]

function createWith({ bytes, data }: Case) {
  const initialize = (mint: Address): Instruction => ({
    programAddress: TOKEN_2022_PROGRAM_ADDRESS,
    accounts: [{ address: mint, role: AccountRole.WRITABLE }],
    data: Uint8Array.from(data()),
  })
  return world.createMint({ program: TOKEN_2022_PROGRAM_ADDRESS, extension: { bytes, initialize } })
}

test.each(REFUSED)('a mint with $name is refused by that name', async (extension) => {
  const mint = await createWith(extension)

  expect(mint).toMatchObject({ extensions: [extension.name], refusal: extension.name, decimals: 6 })
})

test.each(ACCEPTED)('a mint with $name delivers the amount that was sent', async (extension) => {
  const token = await createWith(extension)
  await world.give(token, world.authority.address, 1_000n)
  const to = (await world.fundedSigner()).address

  const op = Buffer.from(`${extension.name}${extension.data()[2]}`)
    .toString('hex')
    .padEnd(64, '0')
    .slice(0, 64)
  const payment = await world.pay({ to, token, amount: 400n, createRecipientAccount: true, op })
  await world.land(payment.raw)

  expect(token).toMatchObject({ extensions: [extension.name] })
  expect(token.refusal).toBeUndefined()
  const held = await readVaultBalances(world.client, { owner: to, tokens: [token], commitment: 'confirmed' })
  expect(held.get(token.mint)).toBe(400n)
})

test('an account of a Token-2022 mint costs the quoted rent', async () => {
  const token = await world.createMint({ program: TOKEN_2022_PROGRAM_ADDRESS })
  const account = await world.give(token, world.authority.address, 1n)

  const [held] = await readAccounts(world.client, { addresses: [account] })

  expect(held?.lamports).toBe(world.rent.token2022AccountLamports)
  expect(held?.data.length).toBe(170)
})

test('an unknown extension, and one that no program here can write, is refused', async () => {
  const { mint } = await world.createMint({ program: TOKEN_2022_PROGRAM_ADDRESS })
  const [account] = await readAccounts(world.client, { addresses: [mint] })
  const base = [...(account?.data ?? []), ...Array.from({ length: 165 - 82 }, () => 0), 1]
  const withExtension = async (kind: number) => {
    const data = [...base, kind % 256, Math.floor(kind / 256), 2, 0, 1, 1]
    await world.dev
      .dev_setAccount(mint, {
        lamports: '9000000',
        owner: TOKEN_2022_PROGRAM_ADDRESS,
        data: [toBase64(Uint8Array.from(data)), 'base64'],
      })
      .send()
    await world.advance(1)
    return (await readMint(world.client, mint))?.refusal
  }

  expect(await withExtension(16)).toBe('confidentialTransferFeeConfig')
  expect(await withExtension(24)).toBe('confidentialMintBurn')
  expect(await withExtension(28)).toBe('extension28')
  expect(await withExtension(999)).toBe('extension999')
})

test('wrapped SOL is delivered like any other token', async () => {
  const token = await readMint(world.client, 'So11111111111111111111111111111111111111112')
  if (!token) throw new Error('No mint')
  const account = await world.give(token, world.authority.address, 0n)
  const wrapped = { source: world.payer, destination: account, amount: 1_000n }
  await world.run(world.payer, [getTransferSolInstruction(wrapped), getSyncNativeInstruction({ account })])
  const to = (await world.fundedSigner()).address
  const op = Buffer.from('wrapped').toString('hex').padEnd(64, '0')

  const payment = await world.pay({ to, token, amount: 400n, createRecipientAccount: true, op })
  await world.land(payment.raw)

  expect(token).toMatchObject({ decimals: 9, extensions: [] })
  const held = await readVaultBalances(world.client, { owner: to, tokens: [token], commitment: 'confirmed' })
  expect(held.get(token.mint)).toBe(400n)
})

test('the program of a mint determines its token accounts', async () => {
  const old = await world.createMint()
  const young = await world.createMint({ program: TOKEN_2022_PROGRAM_ADDRESS })
  const owner = world.authority.address

  expect(old).toMatchObject({ program: TOKEN_PROGRAM_ADDRESS, decimals: 6, extensions: [] })
  expect(young).toMatchObject({ program: TOKEN_2022_PROGRAM_ADDRESS, decimals: 6, extensions: [] })
  for (const { mint, program } of [old, young]) {
    const account = await world.give({ mint, program }, owner, 1n)
    expect(await toTokenAccountAddress({ owner, mint, program })).toBe(account)
  }
})

test('an account that is not a mint is read as none', async () => {
  const token = await world.createMint()
  const account = await world.give(token, world.authority.address, 1n)

  expect(await readMint(world.client, account)).toBeUndefined()
  expect(await readMint(world.client, world.authority.address)).toBeUndefined()
  expect(await readMint(world.client, TOKEN_PROGRAM_ADDRESS)).toBeUndefined()
  expect(await readMint(world.client, NATIVE_SOL)).toMatchObject({ decimals: 9, extensions: [] })
})
