import { MARKER_BYTES, SWEEP_MARGIN_SECONDS, tags } from '@geoswap/solana-escrow'
import { AccountRole, type Address, getAddressEncoder, getU64Encoder, type Instruction } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { expect, test } from 'vitest'
import { addressOf, solanaNode, tokensOf } from '../../../test/support/solana-node.ts'
import { stub } from '../../../test/support/stub.ts'
import type { Op } from '../../swap/swap.ts'
import { NATIVE_TOKEN, SYSTEM_PROGRAM, toTokenAccountAddress } from './accounts.ts'
import { NATIVE_SOL } from './bytes.ts'
import { findDeliveries, readHoldings, readUndelivered, simulateDelivery } from './deliveries.ts'
import type { SolanaBlock } from './heads.ts'
import type { Landing } from './history.ts'
import type { SolanaParts } from './parts.ts'
import { createSolanaSigner } from './settings.ts'

const [program, vault, recipient, mint] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)]
const head: SolanaBlock = { number: 90n, height: 80n, hash: '', seconds: 0, commitment: 'confirmed' }
const hard: SolanaBlock = { number: 50n, height: 40n, hash: '', seconds: 0, commitment: 'finalized' }

const opOf = (name: string, change: Partial<Op> = {}) =>
  ({ hash: `op ${name}`, deliveryHash: name, recipient, outputToken: mint, ...change }) as Op

/** The marker of a delivery of five units. */
function marker(to: string = recipient, of: string = mint) {
  const [amount, paid, whom] = [
    getU64Encoder().encode(5n),
    getAddressEncoder().encode(of as Address),
    getAddressEncoder().encode(to as Address),
  ]
  const data = new Uint8Array(MARKER_BYTES)
  data.set(amount, 40)
  data.set(paid, 48)
  data.set(whom, 80)
  return { owner: program, data }
}

type State = Parameters<typeof solanaNode>[0]

function partsWith(state: State, signed: Readonly<Record<string, readonly string[]>> = {}) {
  const { calls, ...client } = solanaNode(state)
  const token = { mint, program: TOKEN_PROGRAM_ADDRESS, decimals: 6 }
  const parts = stub<SolanaParts>({
    client: { ...client, agreed: client },
    settings: {
      ...{ program, vault, attester: addressOf(5), tokens: [NATIVE_SOL, mint] },
      feePayers: { input: addressOf(6), delivery: addressOf(7) },
    },
    facts: {
      rent: async () => ({ emptyLamports: 10n, tokenAccountLamports: 20n }),
      tokenOf: async (of: string) => (of === NATIVE_SOL ? NATIVE_TOKEN : token),
      findToken: async (of: string) => (of === NATIVE_SOL ? NATIVE_TOKEN : token),
    },
    addresses: { markerOf: async (hash: string) => `marker of ${hash}` },
    async findSigned(step: string, ids: readonly string[]) {
      calls.push(`record of ${step} ${ids.join(', ')}`)
      return new Map(Object.entries(signed))
    },
  })
  return { calls, parts }
}

const accountsOf = (addresses: readonly string[]) =>
  addresses.map((address) => ({ address: address as Address, role: AccountRole.WRITABLE }))

/** An instruction that pays and creates this marker. */
function deliver(name: string): Instruction {
  const accounts = Array.from({ length: 8 }, (_, index) => (index === 6 ? `marker of ${name}` : vault))
  return {
    programAddress: program,
    accounts: accountsOf(accounts),
    data: new Uint8Array(209).with(0, tags.deliver),
  }
}

function sweep(name: string): Instruction {
  const accounts = accountsOf([`marker of ${name}`, vault])
  return { programAddress: program, accounts, data: Uint8Array.of(tags.sweep) }
}

const byRecord = { slot: 70n, instructions: [] }

test('deliveries are found by their markers, with the transaction of the record or of the history', async () => {
  const names = ['told', 'recorded', 'searched', 'open', 'foreign']
  const { calls, parts } = partsWith(
    {
      confirmed: {
        ...{ 'marker of told': marker(), 'marker of recorded': marker(), 'marker of searched': marker() },
        'marker of foreign': { ...marker(), owner: SYSTEM_PROGRAM },
      },
      finalized: { 'marker of recorded': marker(), 'marker of searched': marker() },
      landed: {
        ...{ t1: byRecord, t2: { slot: 50n, instructions: [] } },
        ...{ s1: { slot: 80n, instructions: [sweep('searched')] } },
        ...{ s2: { slot: 75n, instructions: [deliver('other'), sweep('other')] } },
        ...{ s3: { slot: 40n, instructions: [deliver('other'), deliver('searched')] } },
      },
      histories: { 'marker of searched': ['s1', 's2', 's3'] },
    },
    { recorded: ['lost', 't2'] },
  )
  const paid = names.map((name) => ({ op: opOf(name), ...(name === 'told' && { txHash: 't1' }) }))
  const landed = new Map<string, Landing>()

  const found = await findDeliveries(parts, paid, { head, hard }, undefined, landed)

  expect(Object.fromEntries(found)).toEqual({
    'op told': { txHash: 't1', block: 70n, amount: 5n },
    'op recorded': { txHash: 't2', block: 50n, amount: 5n },
    'op searched': { txHash: 's3', block: 40n, amount: 5n },
  })
  expect([...landed.keys()].sort()).toEqual(['recorded', 'searched', 'told'])
  // Only those of the final slot and before are read as final.
  expect(calls).toEqual([
    `confirmed ${names.map((name) => `marker of ${name}`).join(', ')}`,
    'record of deliver told, recorded, searched',
    'statuses of t1, lost, t2',
    ...['history of marker of searched', 's1', 's2', 's3'],
    'finalized marker of recorded, marker of searched',
  ])
})

test('nodes are not asked again about a delivery whose transaction is known', async () => {
  const { calls, parts } = partsWith({ confirmed: { 'marker of a': marker() } })
  const landed = new Map([['a', { txHash: 't', slot: 70n }]])

  const found = await findDeliveries(parts, [{ op: opOf('a') }], { head, hard }, undefined, landed)

  expect(found).toEqual(new Map([['op a', { txHash: 't', block: 70n, amount: 5n }]]))
  expect(calls).toEqual(['confirmed marker of a'])
})

test('a delivery that a dropped fork made is not found', async () => {
  const { parts } = partsWith({
    confirmed: { 'marker of a': marker(), 'marker of b': marker() },
    finalized: { 'marker of b': marker() },
    landed: { t: { slot: 50n, instructions: [] } },
  })
  const paid = ['a', 'b'].map((name) => ({ op: opOf(name), txHash: 't' }))

  expect([...(await findDeliveries(parts, paid, { head, hard })).keys()]).toEqual(['op b'])
})

test('a delivery to somebody else, or of another token, delivers nothing of the op', async () => {
  const { parts } = partsWith({
    confirmed: { 'marker of a': marker(vault), 'marker of b': marker(recipient, vault) },
    landed: { t: byRecord },
  })
  const paid = ['a', 'b'].map((name) => ({ op: opOf(name), txHash: 't' }))

  const found = await findDeliveries(parts, paid, { head, hard })

  expect([...found.values()].map(({ amount }) => amount)).toEqual([0n, 0n])
})

test('a delivery whose history cannot be read does not hide others, unless nobody collects the faults', async () => {
  const state = {
    confirmed: { 'marker of a': marker(), 'marker of b': marker(), 'marker of c': marker() },
    landed: { t: byRecord },
    // A node that has lost the delivery itself.
    histories: { 'marker of c': [] },
  }
  const { parts } = partsWith(state)
  const paid = [{ op: opOf('a') }, { op: opOf('b'), txHash: 't' }, { op: opOf('c') }]
  const faults: unknown[] = []
  const landed = new Map<string, Landing>()

  const found = await findDeliveries(parts, paid, { head, hard }, faults, landed)

  expect([...found.keys()]).toEqual(['op b'])
  expect([...landed.keys()]).toEqual(['b'])
  expect(faults).toEqual([new Error('No history of marker of a')])
  await expect(findDeliveries(parts, paid, { head, hard })).rejects.toThrow('No history of marker of a')
})

test('an op without a marker is undelivered', async () => {
  const { parts } = partsWith({ finalized: { 'marker of a': marker() } })

  const ops = [opOf('a', { fillDeadline: 1_000 }), opOf('b', { fillDeadline: 1_000 })]

  expect(await readUndelivered(parts, ops, { ...hard, seconds: 1_001 })).toEqual(new Set(['op b']))
})

test('of an op whose marker could have been swept there is no answer', async () => {
  const { parts } = partsWith({ finalized: { 'marker of a': marker() } })
  const ops = ['a', 'b', 'c'].map((name) => opOf(name, { fillDeadline: name === 'c' ? 1_001 : 1_000 }))
  const at = { ...hard, seconds: 1_001 + Number(SWEEP_MARGIN_SECONDS) }
  const faults: unknown[] = []

  expect(await readUndelivered(parts, ops, at, faults)).toEqual(new Set(['op c']))
  expect(faults).toEqual([expect.objectContaining({ name: 'SweepableError' })])
  await expect(readUndelivered(parts, ops, at)).rejects.toThrow('could have been swept')
})

const holding = await toTokenAccountAddress({ owner: vault, mint, program: TOKEN_PROGRAM_ADDRESS })
const coins = (lamports: bigint) => ({ owner: SYSTEM_PROGRAM, lamports })

test.each([
  [15n, 5n],
  [10n, 0n],
  [9n, 0n],
])('of %i lamports in the vault %i can be delivered, and every unit of a token', async (lamports, amount) => {
  const { parts } = partsWith({
    confirmed: { [vault]: coins(lamports), [holding]: tokensOf(vault, mint, 7n) },
  })

  expect(await readHoldings(parts, head)).toEqual([
    { token: NATIVE_SOL, amount },
    { token: mint, amount: 7n },
  ])
})

const person = (await createSolanaSigner(new Uint8Array(32).fill(1))).address
const receiving = await toTokenAccountAddress({ owner: person, mint, program: TOKEN_PROGRAM_ADDRESS })
const stock = { [vault]: coins(30n), [holding]: tokensOf(vault, mint, 20n) }
const ready = { [receiving]: tokensOf(person, mint, 0n) }
const native = { outputToken: NATIVE_SOL, quotedOutput: 20n }
const token = { outputToken: mint, quotedOutput: 20n }

test.each<[string, State['confirmed'], Partial<Op>, string]>([
  ['all of the coins that can be paid', {}, native, 'ok'],
  ['one lamport more', {}, { ...native, quotedOutput: 21n }, 'noLiquidity'],
  ['all of a token', ready, token, 'ok'],
  ['one unit more of a token', ready, { ...token, quotedOutput: 21n }, 'noLiquidity'],
  ['a token to an account that has to be opened', {}, { ...token, createsAccount: true }, 'ok'],
  ['a token to an account that was closed', {}, token, 'recipientRefuses'],
  ['coins to a program', { [person]: { owner: program } }, native, 'recipientRefuses'],
  ['what is delivered', { 'marker of a': marker() }, native, 'notNow'],
  ['what only a stranger has sent lamports for', { 'marker of a': coins(1n) }, native, 'ok'],
])('a delivery of %s would end so', async (_, accounts, terms, kind) => {
  const { parts } = partsWith({ confirmed: { ...stock, ...accounts } })
  const op = opOf('a', { recipient: person, createsAccount: false, ...terms })

  expect(await simulateDelivery(parts, op)).toEqual({ kind })
})
