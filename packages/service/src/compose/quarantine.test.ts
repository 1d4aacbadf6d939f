import { RpcRequestError, TimeoutError } from 'viem'
import { expect, test } from 'vitest'
import { NodeSilence } from '../chains/nodes/agree.ts'
import { HttpStatusError } from '../chains/nodes/post-json.ts'
import { SignerError } from '../signers/exchange.ts'
import { faultKindOf, isOutage } from './process.ts'

const rpc = (code: number) => new RpcRequestError({ body: {}, url: '', error: { code, message: 'no' } })
const of = (fields: object, message = 'no') => Object.assign(new Error(message), fields)

test.each<[string, unknown]>([
  ['a silent node', new NodeSilence('no answer')],
  ['a node that answers with a status', new HttpStatusError(503, '')],
  ['a node that fails', rpc(-32_005)],
  ['a node that is slow', new TimeoutError({ body: {}, url: '' })],
  ['a refused connection', of({ syscall: 'connect' })],
  ['a signer that is away', new SignerError('away', 'no answer')],
  ['a database that stops', of({ code: '57P01' })],
  ['a deadlock', of({ code: '40P01' })],
  ['a disk of the database that is full', of({ code: '53100' })],
  ['a cause of these', new Error('above', { cause: new NodeSilence('no answer') })],
])('%s is an outage', (_, error) => {
  expect(isOutage(error)).toBe(true)
})

test.each<[string, unknown]>([
  ['a contract that reverts', rpc(3)],
  ['a row that the database refuses', of({ code: '21000' })],
  ['a fault of the program', new TypeError('no')],
  ['a text that speaks of a timeout', new Error('NodeSilence: timed out')],
])('%s is the fault of the item', (_, error) => {
  expect(isOutage(error)).toBe(false)
})

const unknownBlock = new RpcRequestError({
  body: {},
  url: '',
  error: { code: -32_000, message: 'header not found' },
})

test.each<[string, unknown, string]>([
  ['of a backend that is behind', unknownBlock, 'behind'],
  ['that such a backend caused', new Error('above', { cause: unknownBlock }), 'behind'],
  ['of a silent node', new NodeSilence('no answer'), 'node'],
  ['of the program', new TypeError('no'), 'lane'],
  ['of a contract that reverts', rpc(3), 'lane'],
])('a fault %s is counted apart', (_, error, kind) => {
  expect(faultKindOf(error, 'lane')).toBe(kind)
})
