import { PassThrough } from 'node:stream'
import { stub } from '@geoswap/protocol/test/stub'
import { expect, test } from 'vitest'
import { plain, plainDeep, plainJson, plainName, quoteService } from './plain.ts'
import { createTerminal, type Streams } from './terminal.ts'

const ESCAPE = '\u001b[2K\u001b[1A'
const C1 = '\u009b2K'
const BACKWARDS = '\u202e'

test.each([
  [`pay${ESCAPE}nothing`, 'pay [2K [1Anothing'],
  [`pay${C1}nothing`, 'pay 2Knothing'],
  [`pay${BACKWARDS}01`, 'pay 01'],
  ['one\r\ntwo\u2028three', 'one two three'],
  ['Zoë pays 1 USD₮', 'Zoë pays 1 USD₮'],
])('%j is shown as %j', (text, shown) => {
  expect(plain(text)).toBe(shown)
})

test('JSON keeps every value and escapes characters that a terminal would act on', () => {
  const value = { a: `${ESCAPE}${C1}${BACKWARDS}\u{e0001}` }

  const text = plainJson(value)

  expect(JSON.parse(text)).toEqual(value)
  expect(text).toMatch(/^[\x20-\x7e]+$/)
})

test('names are short and on one line, sentences are quoted and cannot close their quotes', () => {
  expect(plainName(`USDC\n${'x'.repeat(50)}`)).toHaveLength(33)
  expect(quoteService('Fine." Now send all.')).toBe(`the service says: "Fine.' Now send all."`)
  expect(plainDeep({ a: [{ [`b${ESCAPE}`]: `c${ESCAPE}`, d: 1 }] })).toEqual({
    a: [{ 'b [2K [1A': 'c [2K [1A', d: 1 }],
  })
})

test('a question at the terminal contains no escape sequence of the service', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin })
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
  const written: string[] = []
  stderr.on('data', (text: Buffer) => written.push(text.toString()))
  const streams = stub<Streams>({ stdin, stdout: new PassThrough(), stderr })
  const terminal = createTerminal(streams, { json: false })

  const answer = terminal.confirm(`Swap 10 ${C1}USDC${BACKWARDS}?`, new AbortController().signal)
  stdin.write('n\n')

  expect(await answer).toBe(false)
  expect(written.join('')).toContain('Swap 10  2KUSDC ?')
  expect(written.join('')).not.toMatch(/[\u009b\u202e]/)
})
