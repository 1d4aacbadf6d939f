import { expect, test } from 'vitest'
import { exploreSwap } from './model.ts'
import { baseRules, softRules } from './rules.ts'
import { isDead } from './state.ts'

const SETTLED = 'INV-4 settled is true'
const ONE_REFUND = 'INV-3 at most one refund'

/**
 * Known gaps of the rules, found by the model and kept as tests, each with its shortest trace. To close a gap, change
 * the model's rule along with the code; the test then asserts the opposite.
 */
// A loss within the cap, and yet avoidable: the delivery does not check the origin again.
test('a delivery is signed again although the lock is visibly gone', () => {
  const { nodes } = exploreSwap(softRules)

  const again = nodes.filter(
    ({ state, edges }) =>
      isDead(state.lock) &&
      state.deliveries.some(isDead) &&
      edges.some(({ step }) => step.name === 'service: plan delivery'),
  )
  expect(again.length).toBe(8)
})

// Settling leaves time for one reorg window plus a minute.
test('INV-4 a second reorg of a delivery that was reported early can leave no time to repeat it', () => {
  const { violations } = exploreSwap({ ...softRules, reorgsAfterSettled: 2 }, { until: SETTLED })

  expect(violations.get(SETTLED)).toMatchInlineSnapshot(`
    [
      "time: lockLate",
      "service: plan lock",
      "service: record lock",
      "service: send lock",
      "chain: lock included",
      "time: opOver",
      "chain: lock final",
      "service: see lockSeen",
      "service: plan delivery",
      "service: record delivery",
      "service: send delivery",
      "chain: delivery included",
      "service: see delivery",
      "time: fillLate",
      "chain: delivery undone",
      "time: cutOff",
      "chain: delivery included",
      "time: fillOver",
      "chain: delivery undone",
    ]
  `)
})

// Other bytes may be signed only once the first are dead at a final block, and only before the cut-off.
test('INV-4 bytes that a reorg undid and that die close to the deadline cannot be replaced in time', () => {
  const { violations } = exploreSwap({ ...softRules, undoneBytesLandAgain: false }, { until: SETTLED })

  expect(violations.get(SETTLED)).toMatchInlineSnapshot(`
    [
      "time: lockLate",
      "service: plan lock",
      "service: record lock",
      "service: send lock",
      "chain: lock included",
      "time: opOver",
      "chain: lock final",
      "service: see lockSeen",
      "service: plan delivery",
      "service: record delivery",
      "service: send delivery",
      "chain: delivery included",
      "service: see delivery",
      "time: fillLate",
      "chain: delivery undone",
      "time: cutOff",
      "chain: delivery dead",
    ]
  `)
})

// Nothing keeps two attesters from signing one refund each; then only one marker prevents a double refund.
test('INV-3 two attesters, a stranger on the refund marker and a fork refund a Solana input twice', () => {
  const rules = { ...baseRules, origin: 'solana', hasMarkerFunders: true, attesters: 2 } as const

  const { violations } = exploreSwap(rules, { until: ONE_REFUND })

  expect(violations.get(ONE_REFUND)).toMatchInlineSnapshot(`
    [
      "service: plan lock",
      "service: record lock",
      "service: send lock",
      "chain: lock included",
      "chain: lock final",
      "service: see lockSeen",
      "service: note final lock",
      "service: decide refund",
      "attester: sign refund",
      "attester: sign refund",
      "service: record refund",
      "service: send refund",
      "stranger: fund refund marker",
      "service: record refund",
      "chain: refund marker funding undone",
      "chain: refund included",
      "chain: refund final",
      "service: send refund",
      "chain: refund included",
      "chain: refund final",
    ]
  `)
})
