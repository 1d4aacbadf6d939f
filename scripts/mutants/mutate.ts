import { parseSync } from 'vite'
import { type Edit, findSqlEdits } from './mutate-sql.ts'

export type Mutant = Edit & { file: string; line: number; was: string }

type Node = { type: string; start: number; end: number; [field: string]: unknown }

/** The small mistakes that are possible in this file, one at a time. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const { program } = parseSync(file, text)
  const hasSql = file.includes('/store/')
  const edits: Edit[] = []
  const visit = (node: Node, parent?: Node) => {
    if (!isCode(node)) return
    edits.push(...editsOf(node, parent, text))
    if (hasSql) edits.push(...sqlEditsOf(node, text))
    for (const child of childrenOf(node)) visit(child, node)
  }
  visit(program as unknown as Node)
  return edits.map((edit) => ({
    ...edit,
    file,
    line: text.slice(0, edit.start).split('\n').length,
    was: text.slice(edit.start, edit.end),
  }))
}

export function applyEdit(text: string, { start, end, now }: Edit): string {
  return text.slice(0, start) + now + text.slice(end)
}

/** Types are gone at run time; casts contain an expression. */
function isCode({ type }: Node): boolean {
  return !type.startsWith('TS') || /^TS(As|NonNull|Satisfies)Expression$/.test(type)
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof (value as Node | null)?.type === 'string')
}

function editsOf(node: Node, parent: Node | undefined, text: string): Edit[] {
  const isCovered = isCoveredBy(parent, node)
  const at = (now: string): Edit => ({ start: node.start, end: node.end, now })
  switch (node.type) {
    case 'BinaryExpression':
      return operatorsFor(node, isCovered, text).map((operator) => at(withOperator(node, operator, text)))
    case 'LogicalExpression':
      return operandsOf(node, text).map(at)
    case 'UnaryExpression':
      return node.operator === '!' && !isCovered ? [at(`(${text.slice(node.start + 1, node.end)})`)] : []
    case 'UpdateExpression':
      return [
        at(text.slice(node.start, node.end).replace(/\+\+|--/, (sign) => (sign === '++' ? '--' : '++'))),
      ]
    case 'AssignmentExpression':
      return assignmentEdits(node, text)
    case 'Literal':
      return typeof node.value === 'boolean' ? [at(String(!node.value))] : []
    case 'IfStatement':
    case 'ConditionalExpression':
      return outcomesOf(node.test as Node).map((now) => ({ ...spanOf(node.test as Node), now }))
    case 'WhileStatement':
      return [{ ...spanOf(node.test as Node), now: 'false' }]
    case 'CallExpression':
      return callEdits(node, text)
    case 'ExpressionStatement':
      return isEffect(node.expression as Node, text) ? [at('{}')] : []
    default:
      return []
  }
}

const spanOf = ({ start, end }: Node) => ({ start, end })

const BOUNDARY = new Map(Object.entries({ '<': '<=', '<=': '<', '>': '>=', '>=': '>' }))
const NEGATION = new Map(
  Object.entries({ '<': '>=', '<=': '>', '>': '<=', '>=': '<', '===': '!==', '!==': '===' }),
)
const ARITHMETIC = new Map(Object.entries({ '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' }))

/** A test becomes true and false, and single conditions are dropped: a negation would show nothing more. */
function isCoveredBy(parent: Node | undefined, node: Node): boolean {
  return parent?.test === node || (parent?.type === 'LogicalExpression' && parent.operator !== '??')
}

/** Dropping one of several conditions shows the same as one of the two outcomes. */
function outcomesOf(test: Node): string[] {
  if (test.type !== 'LogicalExpression' || test.operator === '??') return ['true', 'false']
  return test.operator === '||' ? ['true'] : ['false']
}

function operatorsFor(node: Node, isCovered: boolean, text: string): string[] {
  const operator = node.operator as string
  if (operator === '+' && /['"`]/.test(text.slice(node.start, node.end))) return []
  const negated = isCovered ? undefined : NEGATION.get(operator)
  return [BOUNDARY.get(operator), negated, ARITHMETIC.get(operator)].flatMap((found) => found ?? [])
}

function withOperator(node: Node, operator: string, text: string): string {
  const [left, right] = sidesOf(node, text)
  return `(${left} ${operator} ${right})`
}

/** Both sides, in parentheses if necessary. */
function sidesOf(node: Node, text: string): [string, string] {
  const [left, right] = [node.left as Node, node.right as Node]
  const between = text.slice(left.end, right.start)
  const at = left.end + between.indexOf(node.operator as string)
  const sides = [text.slice(node.start, at), text.slice(at + (node.operator as string).length, node.end)]
  const [first = '', second = ''] = sides.map((side) => side.trim())
  return [wrap(first), wrap(second)]
}

const wrap = (text: string) => (/^[\w.?!]+(\([\w., ]*\))?$/.test(text) ? text : `(${text})`)

/** Drops each condition; replaces a default with the given value. */
function operandsOf(node: Node, text: string): string[] {
  // `...(a && { a })` omits a field: that is for the type.
  if ((node.right as Node).type === 'ObjectExpression') return []
  const [left, right] = sidesOf(node, text)
  return node.operator === '??' ? [`(${left} && ${right})`] : [`(${left})`, `(${right})`]
}

function assignmentEdits(node: Node, text: string): Edit[] {
  const other = { '+=': '-=', '-=': '+=' }[node.operator as string]
  if (!other) return []
  const now = text.slice(node.start, node.end).replace(node.operator as string, other)
  return [{ ...spanOf(node), now }]
}

const SWAPPED = new Map(Object.entries({ every: 'some', some: 'every', max: 'min', min: 'max' }))
const LEFT_OUT = new Set(['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'slice'])

function callEdits({ callee, end }: Node, text: string): Edit[] {
  const { property, object } = callee as Node & { property?: Node; object?: Node }
  if (property?.type !== 'Identifier' || !object) return []
  const name = text.slice(property.start, property.end)
  const swapped = SWAPPED.get(name)
  if (swapped) return [{ ...spanOf(property), now: swapped }]
  return LEFT_OUT.has(name) ? [{ start: object.end, end, now: '' }] : []
}

// These have no effect except in crash tests or in logs.
const NO_EFFECT = /^(failPoint|[\w.]*\blog)\(/

function isEffect(expression: Node, text: string): boolean {
  const inner = expression.type === 'AwaitExpression' ? (expression.argument as Node) : expression
  const isCall = inner.type === 'CallExpression' && !NO_EFFECT.test(text.slice(inner.start, inner.end))
  return isCall || inner.type === 'AssignmentExpression'
}

function sqlEditsOf(node: Node, text: string): Edit[] {
  const isText =
    node.type === 'TemplateElement' || (node.type === 'Literal' && typeof node.value === 'string')
  if (!isText) return []
  return findSqlEdits(text.slice(node.start, node.end)).map(({ start, end, now }) => ({
    start: node.start + start,
    end: node.start + end,
    now,
  }))
}
