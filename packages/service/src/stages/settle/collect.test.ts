import { expect, test } from 'vitest'
import { collectSignatures } from './collect.ts'

const SET = { members: ['0xB', '0xa', '0xC'], threshold: 2 }
const attested = { chainId: 1, kind: 'claim', opHashes: ['0x1'] } as const

/** Signatures are the names of those who made them. */
async function collect(...signatures: [signer: string, signature: string][]) {
  const rejected: string[] = []
  const found = await collectSignatures(
    {
      recoverSigner: async (_, signature) => (signature === 'garbage' ? undefined : signature),
      onRejected: (_, { signer }) => rejected.push(signer),
    },
    {
      id: '1',
      signatures: signatures.map(([signer, signature]) => ({ signer, signature, writtenBy: 'role' })),
    },
    { set: SET, attested },
  )
  return { found: found?.map(({ signature }) => signature), rejected }
}

test('as many signatures are taken as the escrow needs, in any order', async () => {
  expect((await collect(['0xC', '0xC'], ['0xB', '0xB'], ['0xa', '0xa'])).found).toEqual(['0xC', '0xB'])
})

test('one signature counts once', async () => {
  expect((await collect(['0xC', '0xC'], ['0xC', '0xC'])).found).toBeUndefined()
})

test('a signature of a stranger counts for nobody', async () => {
  expect((await collect(['0xC', '0xC'], ['0xD', '0xD'])).found).toBeUndefined()
})

test.each([['garbage'], ['0xa']])(
  'a member’s row that holds %s is not counted, and is reported',
  async (text) => {
    expect(await collect(['0xC', '0xC'], ['0xB', text])).toEqual({ found: undefined, rejected: ['0xB'] })
  },
)

test('a wrong row of a member does not hide its right one', async () => {
  expect((await collect(['0xB', 'garbage'], ['0xB', '0xB'], ['0xC', '0xC'])).found).toEqual(['0xB', '0xC'])
})

test('after the right row of a member its others are not looked at', async () => {
  expect(await collect(['0xB', '0xB'], ['0xB', 'garbage'], ['0xC', '0xC'])).toEqual({
    ...{ found: ['0xB', '0xC'], rejected: [] },
  })
})
