import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromPlain, toPlainJson } from '../store/chain-views.ts'

test('plain data with bigints at any depth survives a round trip', () => {
  const leaf = fc.oneof(fc.bigInt(), fc.string(), fc.boolean(), fc.integer(), fc.constant(null))
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.stringMatching(/^[a-z0-9]+$/), tie('tree'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(tree, (data) => {
      expect(fromPlain(JSON.parse(toPlainJson(data)))).toEqual(data)
    }),
  )
})

test('only an object that is nothing but a tagged number is a bigint', () => {
  expect(fromPlain({ $bigint: '7' })).toBe(7n)
  expect(fromPlain({ $bigint: '7', other: 1 })).toEqual({ $bigint: '7', other: 1 })
})
