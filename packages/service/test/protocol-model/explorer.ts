/** A finite state machine: its start, its steps, and its invariants. */
export type Machine<S, E extends Edge<S>> = {
  start: S
  stepsOf(state: S): readonly E[]
  /** Equal for states with equal futures. */
  encode(state: S): string
  /** The names of the rules that a state or step violates. */
  judgeState(state: S): readonly string[]
  judgeStep(from: S, step: E): readonly string[]
  isDone(state: S): boolean
  /** Stops at the first violation of this rule. */
  until?: string
}

export type Edge<S> = { name: string; to: S }

type Node<S, E> = {
  state: S
  cameFrom?: { node: Node<S, E>; name: string }
  edges: { step: E; to: Node<S, E> }[]
  isBroken?: boolean
}

export type Exploration<S, E extends Edge<S>> = {
  states: number
  steps: number
  /** The shortest trace to each violated rule. */
  violations: Map<string, string[]>
  /** The shortest trace to each state that cannot reach an end. */
  deadEnds: { state: S; trace: string[] }[]
  nodes: readonly Node<S, E>[]
}

const MAX_STATES = 400_000

/** Visits every reachable state once, breadth-first. Does not continue beyond a violation. */
export function explore<S, E extends Edge<S>>(machine: Machine<S, E>): Exploration<S, E> {
  const start: Node<S, E> = { state: machine.start, edges: [] }
  const seen = new Map([[machine.encode(machine.start), start]])
  const queue = [start]
  const violations = new Map<string, string[]>()
  const report = (rules: readonly string[], trace: () => string[]) => {
    for (const rule of rules) if (!violations.has(rule)) violations.set(rule, trace())
    return rules.length > 0
  }
  let steps = 0
  for (const node of queue) {
    if (machine.until && violations.has(machine.until)) break
    node.isBroken = report(machine.judgeState(node.state), () => traceTo(node))
    if (node.isBroken) continue
    for (const step of machine.stepsOf(node.state)) {
      steps += 1
      if (report(machine.judgeStep(node.state, step), () => [...traceTo(node), step.name])) continue
      const key = machine.encode(step.to)
      const known = seen.get(key)
      const to: Node<S, E> = known ?? { state: step.to, cameFrom: { node, name: step.name }, edges: [] }
      node.edges.push({ step, to })
      if (known) continue
      if (queue.push(to) > MAX_STATES) throw new Error('The state space exceeds MAX_STATES')
      seen.set(key, to)
    }
  }
  return { states: seen.size, steps, violations, deadEnds: findDeadEnds(machine, queue), nodes: queue }
}

/** The shortest trace to a state. */
function traceTo<S, E>(node: Node<S, E>): string[] {
  const trace: string[] = []
  for (let at = node; at.cameFrom; at = at.cameFrom.node) trace.unshift(at.cameFrom.name)
  return trace
}

/** States that cannot reach an end. Violating states are not expanded and do not count. */
function findDeadEnds<S, E extends Edge<S>>(machine: Machine<S, E>, nodes: readonly Node<S, E>[]) {
  const before = new Map<Node<S, E>, Node<S, E>[]>()
  for (const node of nodes) {
    for (const { to } of node.edges) {
      const list = before.get(to)
      if (list) list.push(node)
      else before.set(to, [node])
    }
  }
  const ends = new Set(nodes.filter(({ state }) => machine.isDone(state)))
  for (const node of ends) for (const previous of before.get(node) ?? []) ends.add(previous)
  return nodes
    .filter((node) => !ends.has(node) && !node.isBroken)
    .map((node) => ({ state: node.state, trace: traceTo(node) }))
}

type Fairness<S> = {
  isDone(state: S): boolean
  /** Whether a step of this name is taken eventually if it is offered again and again. */
  isFair(name: string): boolean
  /** Whether a step of this name is taken only finitely often. */
  isRare(name: string): boolean
}

/**
 * States in which a run can cycle forever although it takes every fair step that is offered forever. Empty if
 * everything ends under fairness. A cycle that ignores an offered fair step is not fair: states that offer the step are
 * removed until a fair cycle or nothing is left.
 */
export function findFairCycle<S, E extends Edge<S>>(
  { nodes }: Pick<Exploration<S, E>, 'nodes'>,
  { isDone, isFair, isRare }: Fairness<S>,
): S[] {
  const waiting = [new Set(nodes.filter(({ state }) => !isDone(state)))]
  for (let part = waiting.pop(); part; part = waiting.pop()) {
    for (const inside of findCycles(part, isRare)) {
      const taken = new Set<string>()
      for (const node of inside) {
        for (const { step, to } of node.edges) if (inside.has(to)) taken.add(step.name)
      }
      const offersUntaken = (node: Node<S, E>) =>
        node.edges.some(({ step }) => isFair(step.name) && !taken.has(step.name))
      const kept = new Set([...inside].filter((node) => !offersUntaken(node)))
      if (kept.size === inside.size) return [...inside].map(({ state }) => state)
      if (kept.size > 0) waiting.push(kept)
    }
  }
  return []
}

/** Strongly connected components with at least one step (Tarjan's algorithm with an explicit stack). */
function findCycles<S, E extends Edge<S>>(part: ReadonlySet<Node<S, E>>, isRare: (name: string) => boolean) {
  const order = new Map<Node<S, E>, number>()
  const low = new Map<Node<S, E>, number>()
  const open: Node<S, E>[] = []
  const isOpen = new Set<Node<S, E>>()
  const cycles: Set<Node<S, E>>[] = []
  const lower = (node: Node<S, E>, to: number) => low.set(node, Math.min(low.get(node) ?? to, to))
  const enter = (node: Node<S, E>) => {
    low.set(node, order.size)
    order.set(node, order.size)
    open.push(node)
    isOpen.add(node)
    return { node, next: 0 }
  }
  const leave = (node: Node<S, E>) => {
    if (low.get(node) !== order.get(node)) return
    const members = open.splice(open.lastIndexOf(node))
    for (const member of members) isOpen.delete(member)
    const isCycle = members.length > 1 || node.edges.some(({ to }) => to === node)
    if (isCycle) cycles.push(new Set(members))
  }
  for (const root of part) {
    if (order.has(root)) continue
    const calls = [enter(root)]
    for (let call = calls.at(-1); call; call = calls.at(-1)) {
      const edge = call.node.edges[call.next]
      call.next += 1
      if (!edge) {
        calls.pop()
        leave(call.node)
        const caller = calls.at(-1)
        if (caller) lower(caller.node, low.get(call.node) ?? 0)
      } else if (part.has(edge.to) && !isRare(edge.step.name)) {
        if (!order.has(edge.to)) calls.push(enter(edge.to))
        else if (isOpen.has(edge.to)) lower(call.node, order.get(edge.to) ?? 0)
      }
    }
  }
  return cycles
}
