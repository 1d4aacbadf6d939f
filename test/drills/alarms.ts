import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { fires } from '../../scripts/alert-rules.ts'
import { ROOT } from '../../scripts/sources.ts'

type AlertRule = { alert: string; expr: string; for?: string }

const { groups }: { groups: { rules: AlertRule[] }[] } = parse(
  readFileSync(join(ROOT, 'deploy/alerts.yaml'), 'utf8'),
)
const rules = groups.flatMap(({ rules }) => rules)

export function getRule(name: string): AlertRule {
  const rule = rules.find(({ alert }) => alert === name)
  if (!rule) throw new Error(`deploy/alerts.yaml has no ${name}`)
  return rule
}

/**
 * The alarms of deploy/alerts.yaml whose condition holds on this scrape; counters are compared with the
 * previous one.
 */
export function findSounding(scraped: string, before: string): string[] {
  return rules.filter(({ expr }) => fires(expr, scraped, before)).map(({ alert }) => alert)
}
