import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeName, parseJson } from './json-text.ts'

test('every name and item has its position, and a missing one that of its parent', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.array(fc.integer())), (value) => {
      const text = JSON.stringify(value, null, 2)
      const lines = text.split('\n')
      const { positionOf } = parseJson(text)
      for (const [name, items] of Object.entries(value)) {
        const path = `/${escapeName(name)}`
        const at = positionOf(path)
        expect(lines[at.line - 1]?.slice(at.column - 1).startsWith(`${JSON.stringify(name)}:`)).toBe(true)
        for (const [index, item] of items.entries()) {
          const { line, column } = positionOf(`${path}/${index}`)
          expect(lines[line - 1]?.slice(column - 1)).toMatch(new RegExp(`^${item},?$`))
        }
        expect(positionOf(`${path}/${items.length}/deeper`)).toEqual(at)
      }
    }),
  )
})
