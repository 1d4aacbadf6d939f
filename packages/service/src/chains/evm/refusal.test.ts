import { HttpRequestError, RpcRequestError } from 'viem'
import { describe, expect, test } from 'vitest'
import { commonRefusal, meaningOf } from './send.ts'

const said = (message: string, code = -32_000) =>
  new RpcRequestError({ body: { method: 'eth_sendRawTransaction' }, error: { code, message }, url: 'node' })

// The texts of the clients: go-ethereum core/error.go, core/txpool/errors.go and legacypool.go; Erigon
// txnprovider/txpool/txpoolcfg; Nethermind AcceptTxResult and TxPoolErrorMessages; Reth rpc-eth-types error; Nitro
// answers with go-ethereum's; Hardhat's are those of the local network.
test.each([
  ['known', 'already known', 'go-ethereum, Erigon, Nethermind, Reth'],
  ['known', 'nonce too low', 'all'],
  ['known', 'nonce too low: address 0x01, tx: 4 state: 5', 'go-ethereum, Nitro'],
  ['known', 'existing txn with same hash', 'Erigon'],
  ['known', 'AlreadyKnown', 'Nethermind before 1.33'],
  ['known', 'OldNonce, Current nonce: 5, nonce of rejected tx: 4', 'Nethermind before 1.33'],
  ['known', 'known transaction: 0x01', 'Hardhat'],
  ['underpriced', 'replacement transaction underpriced', 'go-ethereum, Erigon, Nethermind, Reth'],
  ['underpriced', 'replacement transaction underpriced: new tx gas fee cap 10 <= 10 queued', 'go-ethereum'],
  ['underpriced', 'transaction underpriced', 'go-ethereum, Nethermind, Reth'],
  ['underpriced', 'transaction underpriced: gas tip cap 1, minimum needed 25000000000', 'go-ethereum, Bor'],
  ['underpriced', 'underpriced', 'Erigon'],
  ['underpriced', 'fee too low', 'Erigon'],
  ['underpriced', 'could not replace existing tx', 'Erigon'],
  ['underpriced', 'transaction gas price below minimum: gas tip cap 0, minimum needed 1', 'go-ethereum'],
  ['underpriced', 'FeeTooLow, EffectivePriorityFeePerGas too low 0 < 100', 'Nethermind before 1.33'],
  ['underpriced', 'ReplacementNotAllowed', 'Nethermind before 1.33'],
  ['unfunded', 'insufficient funds for gas * price + value: balance 0, tx cost 9, overshot 9', 'go-ethereum'],
  ['unfunded', 'insufficient funds for gas * price + value: have 0 want 9', 'Reth'],
  ['unfunded', 'insufficient funds', 'Erigon'],
  ['unfunded', 'InsufficientFunds, Account balance: 0, cumulative cost: 9', 'Nethermind before 1.33'],
  ['unfunded', "Sender doesn't have enough funds to send tx. The max upfront cost is: 9", 'Hardhat'],
  ['authority', 'authority already reserved', 'go-ethereum, op-geth, Bor'],
  ['authority', 'EIP-7702 transaction with authority already reserved', 'Erigon'],
  ['authority', 'in-flight transaction limit reached for delegated accounts', 'go-ethereum, Reth'],
  ['authority', 'gapped-nonce tx from delegated accounts', 'go-ethereum, Reth'],
  ['authority', 'delegation authority has pending transaction', 'Nethermind'],
  ['authority', 'delegation nonce gap', 'Nethermind'],
  ['authority', 'DelegatorHasPendingTx', 'Nethermind before 1.33'],
  ['gasTooLow', 'intrinsic gas too low', 'Reth, Nitro'],
  ['gasTooLow', 'intrinsic gas too low: gas 100000, minimum needed 210000', 'go-ethereum'],
  ['gasTooLow', 'insufficient gas for floor data gas cost: gas 21000, minimum needed 22000', 'go-ethereum'],
  ['gasTooLow', 'IntrinsicGas', 'Erigon'],
  ['feeBelowBase', 'max fee per gas less than block base fee', 'Reth, Nitro'],
  [
    'feeBelowBase',
    'max fee per gas less than block base fee: address 0x01, maxFeePerGas: 1, baseFee: 2',
    'go-ethereum',
  ],
] as const)('%s: "%s" (%s)', (meaning, text, _client) => {
  expect(meaningOf(said(text))).toBe(meaning)
})

test.each([
  'txpool is full',
  'internal error',
  'daily request count exceeded, request rate limited',
  'nonce too high',
  'node is syncing',
  '',
])('the text "%s" does not concern the transaction', (text) => {
  expect(meaningOf(said(text))).toBeUndefined()
})

describe('a refusal', () => {
  const silent = new HttpRequestError({ url: 'node', cause: new Error('No answer within 5000 ms') })

  test('is definite when every node gave the same', () => {
    const errors = [said('authority already reserved'), said('delegation authority has pending transaction')]
    expect(commonRefusal(errors)).toBe('authority')
  })

  test('is not definite when a node is silent or answers differently', () => {
    expect(commonRefusal([said('authority already reserved'), silent])).toBeUndefined()
    expect(commonRefusal([said('authority already reserved'), said('insufficient funds')])).toBeUndefined()
    expect(commonRefusal([said('authority already reserved'), said('txpool is full')])).toBeUndefined()
    expect(commonRefusal([])).toBeUndefined()
  })

  test('comes from a node, not from a gateway before it', () => {
    const gateway = new HttpRequestError({ url: 'node', status: 403, details: 'insufficient funds' })
    expect(commonRefusal([gateway])).toBeUndefined()
  })
})
