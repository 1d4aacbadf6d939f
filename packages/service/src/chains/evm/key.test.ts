import fc from 'fast-check'
import { bytesToHex, type Hex, type TransactionSerializable } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { openKey } from './family.ts'

const words = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytesToHex(bytes))
const CASES = fc.sample(fc.tuple(words, words, fc.nat()), { numRuns: 12, seed: 1 })
const to = `0x${'a'.repeat(40)}` as const

test('a key signs the bytes that viem signs', async () => {
  for (const [key, data, nonce] of CASES) {
    const [ours, viems] = [openKey(key), privateKeyToAccount(key)]
    const fees = { chainId: 8_453, to, data, nonce, gas: 90_000n, maxFeePerGas: 7n, maxPriorityFeePerGas: 3n }
    const signed = await viems.signAuthorization({ address: to, chainId: 8_453, nonce })
    const sent: TransactionSerializable[] = [
      { ...fees, type: 'eip1559' },
      { ...fees, type: 'eip7702', authorizationList: [signed] },
    ]
    const typed = {
      domain: { chainId: 1, verifyingContract: to },
      types: { Claims: [{ name: 'op', type: 'bytes32' }] },
      primaryType: 'Claims',
      message: { op: data },
    } as const

    expect(ours.address).toBe(viems.address)
    for (const each of sent)
      expect(await ours.signTransaction(each)).toBe(await viems.signTransaction(each as never))
    expect(await ours.signTypedData(typed)).toBe(await viems.signTypedData(typed))
  }
})

test.each([`0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`, '0x01'] as Hex[])('%s is no key', (key) => {
  expect(() => openKey(key)).toThrow()
})
