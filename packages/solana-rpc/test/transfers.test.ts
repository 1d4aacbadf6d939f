import {
  type Address,
  createSolanaRpcSubscriptions,
  generateKeyPairSigner,
  getSignatureFromTransaction,
  lamports,
} from '@solana/kit'
import { getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToCheckedInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TOKEN_2022_PROGRAM } from '../src/token-layout.ts'
import { SOL, startWorld, type World } from './world.ts'

const U64_MAX = (1n << 64n) - 1n

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.chain.stop())

async function createMint(tokenProgram: Address, decimals = 6) {
  const payer = await world.fundedSigner()
  const mint = await generateKeyPairSigner()
  const space = BigInt(getMintSize())
  const rent = await world.rpc.getMinimumBalanceForRentExemption(space).send()
  const create = { payer, newAccount: mint, lamports: rent, space, programAddress: tokenProgram }
  const initialize = { mint: mint.address, decimals, mintAuthority: payer.address }
  await world.send(payer, [
    getCreateAccountInstruction(create),
    getInitializeMint2Instruction(initialize, { programAddress: tokenProgram }),
  ])
  return { payer, mint: mint.address, decimals, tokenProgram }
}
type TestMint = Awaited<ReturnType<typeof createMint>>

async function fundTokens({ payer, mint, decimals, tokenProgram }: TestMint, owner: Address, amount: bigint) {
  const [ata] = await findAssociatedTokenPda({ owner, mint, tokenProgram })
  const at = { programAddress: tokenProgram }
  const create = getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner, mint, tokenProgram })
  const minted = { mint, token: ata, mintAuthority: payer, amount, decimals }
  await world.send(payer, [create, getMintToCheckedInstruction(minted, at)])
  return ata
}

test('an airdrop is confirmed over WebSocket and visible in the balance', async () => {
  const { address } = await generateKeyPairSigner()

  await world.airdrop({ commitment: 'confirmed', recipientAddress: address, lamports: lamports(3n * SOL) })

  const { value } = await world.rpc.getBalance(address, { commitment: 'confirmed' }).send()
  expect(value).toBe(3n * SOL)
})

test('the same airdrop requested twice within one slot is given twice', async () => {
  const { address } = await generateKeyPairSigner()

  await world.dev.dev_pauseSlots().send()
  await world.rpc.requestAirdrop(address, lamports(SOL)).send()
  await world.rpc.requestAirdrop(address, lamports(SOL)).send()
  await world.dev.dev_resumeSlots().send()

  const { value } = await world.rpc.getBalance(address, { commitment: 'processed' }).send()
  expect(value).toBe(2n * SOL)
})

test("the kit's factory sends and confirms a transfer, also on the next port for WebSockets", async () => {
  const payer = await world.fundedSigner()
  const to = await generateKeyPairSigner()
  const transfer = getTransferSolInstruction({ source: payer, destination: to.address, amount: SOL })
  const signed = await world.sign(payer, [transfer])
  const above = new URL(world.chain.wsUrl)
  above.port = `${Number(above.port) + 1}`
  const abort = new AbortController()
  const slots = await createSolanaRpcSubscriptions(above.href)
    .slotNotifications()
    .subscribe({ abortSignal: abort.signal })

  await world.sendAndConfirm(signed, { commitment: 'confirmed' })

  const { value } = await world.rpc.getBalance(to.address, { commitment: 'confirmed' }).send()
  expect(value).toBe(SOL)
  for await (const { slot, parent, root } of slots) {
    expect([slot - parent, slot - root]).toEqual([1n, 32n])
    break
  }
  abort.abort()
})

test.each([
  ['Token', TOKEN_PROGRAM_ADDRESS, 'spl-token'],
  ['Token-2022', TOKEN_2022_PROGRAM, 'spl-token-2022'],
])('tokens of the %s program move between associated accounts', async (_name, tokenProgram, program) => {
  const made = await createMint(tokenProgram)
  const [alice, bob] = [await world.fundedSigner(), await generateKeyPairSigner()]
  const source = await fundTokens(made, alice.address, 5_000_000n)
  const destination = await fundTokens(made, bob.address, 0n)
  const { mint, decimals } = made
  const transfer = { source, mint, destination, authority: alice, amount: 1_250_000n, decimals }

  const memo = getAddMemoInstruction({ memo: 'first swap' })
  const move = getTransferCheckedInstruction(transfer, { programAddress: tokenProgram })
  const signature = await world.send(alice, [memo, move])

  const commitment = 'processed'
  const { value: balance } = await world.rpc.getTokenAccountBalance(destination, { commitment }).send()
  expect(balance).toEqual({ amount: '1250000', decimals: 6, uiAmount: 1.25, uiAmountString: '1.25' })
  const { value: supply } = await world.rpc.getTokenSupply(mint, { commitment }).send()
  expect(supply.amount).toBe('5000000')

  const encoding = 'jsonParsed'
  const { value: owned } = await world.rpc
    .getTokenAccountsByOwner(bob.address, { mint }, { encoding, commitment })
    .send()
  expect(owned.map((entry) => entry.pubkey)).toEqual([destination])
  expect(owned[0]?.account.data).toMatchObject({
    program,
    parsed: { type: 'account', info: { owner: bob.address, mint, state: 'initialized' } },
  })
  const byProgram = await world.rpc
    .getTokenAccountsByOwner(bob.address, { programId: tokenProgram }, { encoding: 'base64', commitment })
    .send()
  expect(byProgram.value.length).toBe(1)
  const { value: mintAccount } = await world.rpc.getAccountInfo(mint, { encoding, commitment }).send()
  expect(mintAccount?.data).toMatchObject({ program, parsed: { type: 'mint', info: { decimals: 6 } } })
  const { value: largest } = await world.rpc.getTokenLargestAccounts(mint, { commitment }).send()
  expect(largest.map((entry) => entry.address)).toEqual([source, destination])

  await world.dev.dev_advanceSlots(1).send()
  const read = await world.rpc
    .getTransaction(signature, {
      commitment: 'confirmed',
      encoding: 'json',
      maxSupportedTransactionVersion: 0,
    })
    .send()
  expect(read?.meta?.err).toBeNull()
  const owners = (balances: readonly { owner?: Address; uiTokenAmount: { amount: string } }[] = []) =>
    Object.fromEntries(balances.map(({ owner, uiTokenAmount }) => [owner, uiTokenAmount.amount]))
  expect(owners(read?.meta?.preTokenBalances)).toEqual({ [alice.address]: '5000000', [bob.address]: '0' })
  expect(owners(read?.meta?.postTokenBalances)).toEqual({
    [alice.address]: '3750000',
    [bob.address]: '1250000',
  })
  const [newest] = await world.rpc.getSignaturesForAddress(destination, { commitment: 'confirmed' }).send()
  expect(newest).toMatchObject({ signature, memo: '[10] first swap', err: null })
})

function accountInfoRequest(address: Address) {
  const params = [address, { commitment: 'processed', encoding: 'base64' }]
  return { jsonrpc: '2.0', id: 1, method: 'getAccountInfo', params }
}

test('amounts beyond 2^53 cross the wire exactly', async () => {
  const { address } = await generateKeyPairSigner()
  const odd = 100_000_000_000_000_001n
  const made = await createMint(TOKEN_PROGRAM_ADDRESS, 0)

  await world.dev.dev_setAccount(address, { lamports: `${odd}` }).send()
  const token = await fundTokens(made, address, U64_MAX)

  const { value } = await world.rpc.getBalance(address, { commitment: 'processed' }).send()
  expect(value).toBe(odd)
  const { value: account } = await world.rpc
    .getAccountInfo(address, { commitment: 'processed', encoding: 'base64' })
    .send()
  expect(account?.lamports).toBe(odd)
  const { text } = await world.post(JSON.stringify(accountInfoRequest(address)))
  expect(text).toContain('"lamports":100000000000000001,')
  expect(text).toContain('"rentEpoch":18446744073709551615,')
  const balance = await world.rpc.getTokenAccountBalance(token, { commitment: 'processed' }).send()
  expect(balance.value.amount).toBe(U64_MAX.toString())
})

test('history lists the transactions of an address, newest first, in pages', async () => {
  const payer = await world.fundedSigner()
  const to = await generateKeyPairSigner()
  const signatures: string[] = []
  for (const amount of [SOL, 2n * SOL, 3n * SOL]) {
    const transfer = getTransferSolInstruction({ source: payer, destination: to.address, amount })
    signatures.unshift(await world.send(payer, [transfer]))
  }
  await world.dev.dev_advanceSlots(1).send()

  const [newest] = await world.rpc
    .getSignaturesForAddress(to.address, { commitment: 'confirmed', limit: 1 })
    .send()
  if (!newest) throw new Error('No history')
  const older = await world.rpc
    .getSignaturesForAddress(to.address, { commitment: 'confirmed', before: newest.signature })
    .send()

  expect([newest, ...older].map((entry) => entry.signature)).toEqual(signatures)
})

test('the quoted fee is the fee charged, with a priority fee too', async () => {
  const payer = await world.fundedSigner()
  const to = await generateKeyPairSigner()
  const transfer = getTransferSolInstruction({ source: payer, destination: to.address, amount: SOL })
  const signed = await world.sign(payer, [
    getSetComputeUnitPriceInstruction({ microLamports: 7_000_001n }),
    transfer,
  ])
  const message = Buffer.from(signed.messageBytes).toString('base64') as Parameters<
    typeof world.rpc.getFeeForMessage
  >[0]

  const { value: fee } = await world.rpc.getFeeForMessage(message, { commitment: 'processed' }).send()
  await world.sendAndConfirm(signed, { commitment: 'confirmed' })

  const { value } = await world.rpc.getBalance(payer.address, { commitment: 'confirmed' }).send()
  expect(value).toBe(9n * SOL - (fee ?? 0n))
  const landed = await world.rpc
    .getTransaction(getSignatureFromTransaction(signed), {
      commitment: 'confirmed',
      encoding: 'base64',
      maxSupportedTransactionVersion: 0,
    })
    .send()
  expect(landed?.meta?.fee).toBe(fee)
})
