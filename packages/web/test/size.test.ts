import { expect, test } from 'vitest'
import { MAX_SCRIPT_BYTES, measureWeb } from '../scripts/size.ts'

test("the page's script stays below its size limit", async () => {
  const { script, style } = await measureWeb()

  expect(script).toBeGreaterThan(0)
  expect(script + style).toBeLessThan(MAX_SCRIPT_BYTES)
})
