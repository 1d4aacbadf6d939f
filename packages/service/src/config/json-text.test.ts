import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeName, JsonError, parseJson } from './json-text.ts'

/** The parsed value, or whether the parser refuses the text. */
function parsed(text: string, parse: (text: string) => unknown): { value: unknown } | 'refused' {
  try {
    return { value: parse(text) }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonError) return 'refused'
    throw error
  }
}

test('a text parses as with JSON.parse, whatever its white space', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '\t', '\r\n'), (value, space) => {
      const text = JSON.stringify(value, null, space)
      expect(parseJson(text).value).toEqual(JSON.parse(text))
    }),
  )
})

test('a damaged text is refused exactly if JSON.parse refuses it', () => {
  const damage = fc.record({
    at: fc.nat(200),
    cut: fc.nat(3),
    put: fc.constantFrom('', ',', '"', '}', '0', '\\', 'e'),
  })
  fc.assert(
    fc.property(fc.jsonValue(), damage, (value, { at, cut, put }) => {
      const whole = JSON.stringify(value)
      const text = `${whole.slice(0, at)}${put}${whole.slice(at + cut)}`
      expect(parsed(text, (each) => parseJson(each).value)).toEqual(parsed(text, JSON.parse))
    }),
    { numRuns: 500 },
  )
})

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
