import { GeoswapError, SubmissionUnknownError, SwapRefusedError, TamperedOperationError } from '@geoswap/sdk'
import { expect, test } from 'vitest'
import { explain } from './explain.ts'

const refusal = (code: string, recovery: object = {}, message = 'It is so. Do that.', retryable = false) =>
  new GeoswapError({
    code: code as 'INTERNAL',
    message,
    status: 422,
    retryable,
    recovery: { action: 'FIX_REQUEST', ...recovery } as GeoswapError['recovery'],
  })

test('amounts of the service are shown in whole tokens, not in the smallest unit', () => {
  const input = { symbol: 'USDC', decimals: 6 }

  expect(explain(refusal('NEEDS_LARGER_SIZE', { minAmount: '25032' }), { input })).toMatchObject({
    message: 'It is so.',
    advice: 'Swap at least 0.025032 USDC.',
  })
  expect(explain(refusal('INSUFFICIENT_LIQUIDITY', { maxAmount: '5000000' }), { input }).advice).toBe(
    'Swap at most 5 USDC.',
  )
})

test('nobody is told to swap nothing, or to try again where that cannot help', () => {
  const input = { symbol: 'USDC', decimals: 6 }

  expect(explain(refusal('INSUFFICIENT_LIQUIDITY', { maxAmount: '0' }), { input }).advice).toBe('')
  expect(explain(refusal('INVALID_REQUEST', {}, 'The recipient is no address.')).advice).toBe('')
  expect(explain(refusal('INTERNAL', {}, 'It failed.', true)).advice).toBe('Try again in a moment.')
})

test.each([
  ['INVALID_API_KEY', 'key'],
  ['INSUFFICIENT_BALANCE', 'wallet'],
  ['CONNECTION_FAILED', 'connection'],
  ['SWAP_NOT_FOUND', 'id'],
])('%s has advice', (code, word) => {
  expect(explain(refusal(code)).advice.toLowerCase()).toContain(word)
})

test('a submission that may have arrived is not retried blindly', () => {
  expect(explain(new SubmissionUnknownError({ geoOpToken: 't', signature: '0x' })).advice).toContain(
    'Do not start another one',
  )
})

test('a swap that its wallet has not paid can be started again, whether its submission arrived or not', () => {
  const { advice } = explain(new SubmissionUnknownError({ geoOpToken: 't' }), { isUnpaid: true })

  expect(advice).toMatch(/^Start again/)
})

test.each([
  ['asked before', 'PAYMENT_ASKED', /may have sent it.*follows it/],
  ['too late', 'PAYMENT_LATE', /^Nothing was sent\. Swap again\.$/],
] as const)('a payment that was %s is not called a signature', (_, code, advice) => {
  const explained = explain(new SwapRefusedError(code, 'No.'))

  expect(explained.advice).toMatch(advice)
  expect(explained.advice).not.toContain('signed')
})

test('errors before the signature say that nothing was signed', () => {
  const tampered = new TamperedOperationError([{ field: 'recipient', expected: 'a', actual: 'b' }])

  expect(explain(tampered).advice).toContain('Nothing was signed')
  expect(explain(new SwapRefusedError('DECLINED', 'no')).advice).toContain('Nothing was signed')
})

test('a wallet that was told no is no error of the page, also if it rejects with a plain object', () => {
  const rejected = { code: 4001, message: 'User rejected the request.' }

  expect(explain(rejected)).toMatchObject({ code: 'REJECTED', advice: 'Nothing was signed or sent.' })
  expect(explain({ code: -32603, message: 'No nonce' })).toMatchObject({ message: 'No nonce' })
})

test('any other error has a message', () => {
  expect(explain('x')).toMatchObject({ code: 'ERROR', message: 'Something went wrong.' })
})
