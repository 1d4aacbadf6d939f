import {
  type Hex,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializableEIP1559,
  zeroAddress,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { type Intent, pairSigned, parseExport } from './offline.ts'

const account = privateKeyToAccount(generatePrivateKey())
const to = '0x2000000000000000000000000000000000000001'
const fees = { gas: 100_000n, maxFeePerGas: 20n, maxPriorityFeePerGas: 2n }

function toIntent(nonce: number): Intent {
  const transaction = { chainId: 8453, nonce, to, value: 5n, data: '0x12ab' as Hex, ...fees } as const
  return {
    ...{
      chain: 'base',
      chainId: 8453,
      from: account.address,
      nonce,
      to,
      value: '5',
      data: '0x12ab',
      text: 'pays',
    },
    ...{ gas: '100000', maxFeePerGas: '20', maxPriorityFeePerGas: '2' },
    unsigned: serializeTransaction({ type: 'eip1559', ...transaction }),
  }
}

const intents = [toIntent(7), toIntent(8)]

function sign(intent = intents[0], change: object = {}, by = account): Promise<Hex> {
  const transaction = parseTransaction(intent?.unsigned as Hex) as TransactionSerializableEIP1559
  return by.signTransaction({ ...transaction, ...change })
}

test('exported transactions are sent in the order of nonces, with fees of the wallet up to twice', async () => {
  const [first, second] = [
    await sign(intents[0], { maxFeePerGas: 40n, gas: 200_000n }),
    await sign(intents[1]),
  ]

  const pairs = await pairSigned(intents, [second, first])

  expect(pairs.map(({ intent, raw }) => [intent.nonce, raw])).toEqual([
    [7, first],
    [8, second],
  ])
})

test.each<[string, object, RegExp]>([
  ['another recipient', { to: zeroAddress }, /pays or calls 0x0{40}, not 0x2/],
  ['a creation', { to: undefined }, /pays or calls nobody/],
  ['more value', { value: 6n }, /sends 6 wei, not 5/],
  ['other data', { data: '0x12ac' }, /has other data than was exported/],
  ['another nonce', { nonce: 9 }, /nonce 9: none was exported/],
  ['another chain', { chainId: 1 }, /chain 1, nonce 7: none was exported/],
  ['an access list', { accessList: [{ address: to, storageKeys: [] }] }, /has an access list/],
  ['too much gas', { gas: 200_001n }, /has 200001 as gas, more than twice the exported 100000/],
  ['too high a fee', { maxFeePerGas: 41n }, /more than twice the exported 20/],
  ['too high a tip', { maxPriorityFeePerGas: 5n }, /more than twice the exported 2/],
  [
    'another type',
    { type: 'legacy', gasPrice: 20n, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined },
    /is no signed EIP-1559 transaction/,
  ],
])('a signed transaction with %s is refused', async (_, change, why) => {
  await expect(pairSigned(intents, [await sign(intents[0], change)])).rejects.toThrow(why)
})

test('a signature of another key, and bytes that are no transaction, are refused', async () => {
  const stranger = privateKeyToAccount(generatePrivateKey())

  await expect(pairSigned(intents, [await sign(intents[0], {}, stranger)])).rejects.toThrow(
    `is of ${stranger.address}, chain 8453, nonce 7: none was exported`,
  )
  const cut = (await sign()).slice(0, -2)
  for (const text of [cut, intents[0]?.unsigned ?? '', 'none', '0x'])
    await expect(pairSigned(intents, [text])).rejects.toThrow('is no signed EIP-1559 transaction')
})

test('two for one nonce, and a gap between nonces, are refused', async () => {
  const [one, same] = [await sign(), await sign(intents[0], { maxFeePerGas: 21n })]

  await expect(pairSigned(intents, [one, same])).rejects.toThrow('has the nonce of an earlier one')
  await expect(pairSigned(intents, [await sign(intents[1])])).rejects.toThrow('Nonce 7 on base is not signed')
})

test('a file is read as it was written, and another is refused', () => {
  const written = JSON.stringify({ geoswapTransactions: 1, transactions: intents })

  expect(parseExport(written)).toEqual(intents)
  for (const other of [
    '',
    '[]',
    '{"geoswapTransactions":2,"transactions":[]}',
    written.replace('"nonce":7', '"nonce":-1'),
  ])
    expect(() => parseExport(other)).toThrow(/is not JSON|no file that --export wrote/)
})
