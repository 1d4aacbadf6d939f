import { expect, test } from 'vitest'
import { findRefusedAsset, type RegionRules, toRegion } from './regions.ts'

const rules: RegionRules = {
  refused: [
    { region: 'XX', assets: ['EURC'] },
    { region: 'YY-1', assets: [] },
  ],
}
const refusedIn = (region: string | undefined, more: Partial<RegionRules> = {}) =>
  findRefusedAsset({ ...rules, ...more }, region, ['USDC', 'EURC'])

test.each([
  ['XX', 'EURC'],
  ['XX-7', 'EURC'],
  ['XXX', undefined],
  ['YY', undefined],
  ['YY-1', 'USDC'],
  ['ZZ', undefined],
  [undefined, 'USDC'],
])('in the region %s the refused asset is %s', (region, asset) => {
  expect(refusedIn(region)).toBe(asset)
})

test('without a region nothing is refused if the configuration says so', () => {
  expect(refusedIn(undefined, { withoutRegion: 'allow' })).toBeUndefined()
})

test.each<[string | string[] | undefined, string | undefined]>([
  ['xx', 'XX'],
  [' XX-7 ', 'XX-7'],
  ['XX, YY', undefined],
  [['XX'], undefined],
  ['', undefined],
  ['X'.repeat(17), undefined],
  [undefined, undefined],
])('the header %j names the region %s', (header, region) => {
  expect(toRegion(header)).toBe(region)
})
