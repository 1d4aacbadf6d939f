import { readFileSync, writeFileSync } from 'node:fs'
import { readSources, report } from '../sources.ts'
import { countFigures, type Figures, findRisen, lower } from './figures.ts'

// `npm run count`: how many pieces the code has. Each figure may only fall.
//   --write   records what fell as the new limits
//   --swap    counts the files of a swap too, on a network of its own: half a minute
const file = new URL('limits.json', import.meta.url)
const limits: Figures = JSON.parse(readFileSync(file, 'utf8'))
const swap = process.argv.includes('--swap') ? await (await import('./swap.ts')).countSwap() : {}
const figures = { ...countFigures(readSources()), ...swap }

for (const [name, limit] of Object.entries({ ...figures, ...limits })) {
  const figure = figures[name]
  console.log(`${String(figure ?? '').padStart(6)}  ${name}: at most ${limits[name] ?? limit}`)
}
if (process.argv.includes('--write'))
  writeFileSync(file, `${JSON.stringify(lower(limits, figures), null, 2)}\n`)
report('count', findRisen(figures, process.argv.includes('--write') ? lower(limits, figures) : limits))
