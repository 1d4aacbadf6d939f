import { expect, test } from 'vitest'
import { lettersOf } from './avatar.tsx'
import { searchItems, stepIn } from './picker.tsx'

const item = (name: string, id: string, more: object = {}) => ({ id, name, mark: lettersOf(name), ...more })
const items = [
  item('WETH', '0xaa01'),
  item('ETH', '0x0000', { detail: 'coin of alpha' }),
  item('ETHX', '0xaa02', { refusal: 'not available now' }),
  item('USDC', '0xbb01'),
]
const namesOf = (text: string) => searchItems(items, text).map(({ name }) => name)

test('a search finds names, details and addresses, in any case', () => {
  expect(namesOf('usd')).toEqual(['USDC'])
  expect(namesOf('COIN')).toEqual(['ETH'])
  expect(namesOf('0xAA')).toEqual(['WETH', 'ETHX'])
  expect(namesOf('doge')).toEqual([])
})

test('names that begin with the text come first, items that cannot be chosen last', () => {
  expect(namesOf('eth')).toEqual(['ETH', 'WETH', 'ETHX'])
  expect(namesOf('')).toHaveLength(items.length)
})

test('arrow keys go around the ends', () => {
  expect([stepIn(3, 2, 1), stepIn(3, 0, -1), stepIn(3, 1, 1), stepIn(0, 0, 1)]).toEqual([0, 2, 2, 0])
})
