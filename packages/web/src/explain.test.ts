import { GeoswapError, SubmissionUnknownError, SwapRefusedError, TamperedOperationError } from '@geoswap/sdk'
import { expect, test } from 'vitest'
import { explain } from './explain.ts'

const refusal = (code: string, recovery: object = {}) =>
  new GeoswapError({
    code: code as 'INTERNAL',
    message: 'It is so. Do that.',
    status: 422,
    retryable: false,
    recovery: { action: 'FIX_REQUEST', ...recovery } as GeoswapError['recovery'],
  })

test('amounts of the service are shown in whole tokens, not in the smallest unit', () => {
  const input = { symbol: 'USDC', decimals: 6 }

  expect(explain(refusal('NEEDS_LARGER_SIZE', { minAmount: '25032' }), { input }).advice).toBe(
    'Swap at least 0.025032 USDC.',
  )
  expect(explain(refusal('INSUFFICIENT_LIQUIDITY', { maxAmount: '5000000' }), { input }).advice).toBe(
    'Swap at most 5 USDC.',
  )
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

test('errors before the signature say that nothing was signed', () => {
  const tampered = new TamperedOperationError([{ field: 'recipient', expected: 'a', actual: 'b' }])

  expect(explain(tampered).advice).toContain('Nothing was signed')
  expect(explain(new SwapRefusedError('DECLINED', 'no')).advice).toContain('Nothing was signed')
})

test('any other error has a message', () => {
  expect(explain('x')).toMatchObject({ code: 'ERROR', message: 'Something went wrong.' })
})
