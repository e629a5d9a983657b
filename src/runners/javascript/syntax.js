// Walks over syntax trees, as acorn makes them (the ESTree form).

"use strict";

const isNode = (value) =>
  value !== null && typeof value === "object" && typeof value.type === "string";

function children(node) {
  const found = [];
  for (const key of Object.keys(node)) {
    const value = node[key];
    if (Array.isArray(value)) found.push(...value.filter(isNode));
    else if (isNode(value)) found.push(value);
  }
  return found;
}

const isFunction = (node) =>
  node.type === "FunctionDeclaration" ||
  node.type === "FunctionExpression" ||
  node.type === "ArrowFunctionExpression";

// The names that a pattern binds, or that it assigns to: Identifier nodes.
function patternIdentifiers(pattern, found = []) {
  switch (pattern?.type) {
    case "Identifier":
      found.push(pattern);
      break;
    case "ObjectPattern":
      for (const property of pattern.properties)
        patternIdentifiers(property.value ?? property.argument, found);
      break;
    case "ArrayPattern":
      for (const element of pattern.elements) patternIdentifiers(element, found);
      break;
    case "AssignmentPattern":
      patternIdentifiers(pattern.left, found);
      break;
    case "RestElement":
      patternIdentifiers(pattern.argument, found);
      break;
  }
  return found;
}

const patternNames = (pattern) => patternIdentifiers(pattern).map((identifier) => identifier.name);

// The variables of a declaration.
const declaredNames = (declaration) =>
  declaration.declarations.flatMap(({ id }) => patternNames(id));

// Calls visit(node, parent) for the node and what is in it, except where it returns false.
function walk(node, visit, parent = null) {
  if (visit(node, parent) === false) return;
  for (const child of children(node)) walk(child, visit, node);
}

// The `var` declarations that belong to the function, or program, around the node.
function varDeclarations(node) {
  const found = [];
  walk(node, (each, parent) => {
    if (each !== node && isFunction(each)) return false;
    if (each.type === "VariableDeclaration" && each.kind === "var")
      found.push({ node: each, parent });
    return true;
  });
  return found;
}

Object.assign(exports, {
  children,
  declaredNames,
  isFunction,
  patternIdentifiers,
  patternNames,
  varDeclarations,
  walk,
});
