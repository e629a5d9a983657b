// What is done to the code of a step so that a script can be made of it.
//
// Without `await` and `import` it stays as it is, but that `let`, `const` and `class` become `var`
// (see names.js). With them it is the body of an async function: what it declares is assigned to
// global variables there, and its functions are a script of their own, which runs first. Timing is
// that of the language; each await of the top level only looks whether the step was interrupted.

"use strict";

const { declaredNames, isFunction, patternNames, varDeclarations, walk } = load("syntax");
const { Edits } = load("edits");
const { guardConstants } = load("constants");
const names = load("names");

const STEP = "__stepbox_step"; // the parameter of the async function
const META = "__stepbox_meta"; // import.meta

const hasList = (parent) =>
  ["Program", "BlockStatement", "SwitchCase", "StaticBlock"].includes(parent.type);

class Rewriting {
  constructor(source, { program, parenthesized }) {
    this.source = source;
    this.program = program;
    this.edits = new Edits(source);
    this.imports = [];
    this.names = [];
    this.constants = [];
    this.functions = [];
    if (parenthesized) {
      this.edits.open(0, "(");
      this.edits.close(source.length, "\n)", -1);
    }
    // Positions in the tree of a source in parentheses are one too far.
    this.shift = parenthesized ? 1 : 0;
    this.find();
  }

  at(position) {
    return Math.min(Math.max(position - this.shift, 0), this.source.length);
  }

  replace(start, end, text) {
    this.edits.replace(this.at(start), this.at(end), text);
  }

  // Around the node.
  open(node, text) {
    this.edits.open(this.at(node.start), text);
  }

  close(node, text, end = node.end) {
    this.edits.close(this.at(end), text, node.start);
  }

  find() {
    this.awaits = [];
    this.metas = [];
    const visit = (inside) => (node) => {
      if (isFunction(node)) {
        if (!inside) {
          walk(node, (each) => each === node || visit(true)(each));
          return false;
        }
      } else if (
        !inside &&
        (node.type === "AwaitExpression" || (node.type === "ForOfStatement" && node.await))
      ) {
        this.awaits.push(node);
      } else if (node.type === "MetaProperty" && node.meta.name === "import") {
        this.metas.push(node);
      }
      return true;
    };
    walk(this.program, visit(false));
    this.isAsync =
      this.awaits.length > 0 ||
      this.program.body.some(
        (node) => node.type.startsWith("Import") || (node.type.startsWith("Export") && node.source),
      );
    this.isStrict = this.program.body.some(({ directive }) => directive === "use strict");
  }

  run() {
    for (const statement of this.program.body) this.statement(statement);
    for (const { node, parent } of varDeclarations(this.program)) this.variables(node, parent);
    for (const node of this.metas) this.replace(node.start, node.end, META);
    const then = names.constantsWith(this.names, this.constants);
    if (then.size > 0) {
      const edits = { replace: (start, end, text) => this.replace(start, end, text) };
      guardConstants(this.program, then, edits, names.GUARD);
    }
    this.nextConstants = then;
    this.last();
    if (this.isAsync) this.makeAsync();
    return this;
  }

  statement(node) {
    switch (node.type) {
      case "VariableDeclaration":
        if (node.kind !== "var") this.variables(node, this.program);
        break;
      case "ClassDeclaration":
        this.names.push(node.id.name);
        this.open(node, this.isAsync ? `;${node.id.name}=` : `var ${node.id.name}=`);
        this.close(node, ";");
        break;
      case "FunctionDeclaration":
        this.names.push(node.id.name);
        this.functions.push(node);
        break;
      case "ImportDeclaration":
        this.importDeclaration(node);
        break;
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
      case "ExportDefaultDeclaration":
        this.exportDeclaration(node);
        break;
    }
  }

  // In a script they are `var`, in the async function assignments.
  variables(node, parent) {
    const declared = declaredNames(node);
    this.names.push(...declared);
    if (node.kind === "const") this.constants.push(...declared);
    const keyword = [node.start, node.start + node.kind.length];
    if (!this.isAsync) {
      if (node.kind !== "var") this.replace(...keyword, "var");
    } else if (parent.type.startsWith("For") && parent.body !== node) {
      this.replace(...keyword, "");
      return;
    } else {
      // Alone in an `if` it must stay one statement; in a list nothing may join it to others.
      const list = parent.type.startsWith("Export") || hasList(parent);
      this.replace(...keyword, list ? ";" : "{");
      this.close(node, list ? ";" : "}");
    }
    for (const { id, init } of node.declarations) {
      if (!init && node.kind !== "var") this.close(id, "=void 0");
      if (init && id.type === "ObjectPattern" && this.isAsync) {
        this.open(id, "(");
        this.close(id, ")", init.end);
      }
    }
  }

  importDeclaration(node) {
    const targets = [];
    let namespace = "";
    const wanted = [];
    for (const { type, imported, local } of node.specifiers) {
      this.names.push(local.name);
      if (type === "ImportNamespaceSpecifier") {
        namespace = local.name;
        continue;
      }
      const name =
        type === "ImportDefaultSpecifier" ? "default" : (imported.name ?? imported.value);
      wanted.push(name);
      targets.push(`${JSON.stringify(name)}: ${local.name}`);
    }
    const parameters = [
      JSON.stringify(node.source.value),
      JSON.stringify(wanted),
      this.attributes(node),
    ];
    const call = `await ${STEP}.import(${parameters.join()})`;
    this.imports.push(`({${targets.join()}}=${namespace ? `${namespace}=` : ""}${call});`);
    this.edits.remove(this.at(node.start), this.at(node.end));
  }

  // Of an import declaration, as code: from parse.js or, in newer versions, from acorn itself.
  attributes({ attributesNode, attributes }) {
    if (attributesNode)
      return this.source.slice(this.at(attributesNode.start), this.at(attributesNode.end));
    if (!attributes?.length) return "undefined";
    const pairs = attributes.map(
      ({ key, value }) => `${JSON.stringify(key.name ?? key.value)}:${value.raw}`,
    );
    return `{${pairs.join()}}`;
  }

  exportDeclaration(node) {
    const { declaration, source, start, end } = node;
    if (source) this.imports.push(`await ${STEP}.import(${JSON.stringify(source.value)},[]);`);
    if (!declaration) {
      this.edits.remove(this.at(start), this.at(end));
      return;
    }
    const named =
      declaration.type === "VariableDeclaration" ||
      (/Declaration$/.test(declaration.type) && declaration.id);
    if (named) {
      this.edits.remove(this.at(start), this.at(declaration.start));
      this.statement(declaration);
    } else {
      this.replace(start, declaration.start, ";(");
      this.close(declaration, ")");
    }
  }

  // The expression that is the result of the step, if it ends with one.
  last() {
    const last = this.program.body.filter(({ type }) => type !== "EmptyStatement").at(-1);
    this.hasResult = last?.type === "ExpressionStatement";
    if (!this.hasResult || !this.isAsync) return;
    const source = this.shift ? `(${this.source}\n)` : this.source;
    this.open(last, "return(");
    this.close(last, ")", source[last.end - 1] === ";" ? last.end - 1 : last.end);
  }

  makeAsync() {
    for (const node of this.awaits) {
      if (node.type === "AwaitExpression") {
        // Begins with a name, as it did: a parenthesis might join it to the line before.
        this.open(node, `${STEP}.go(${STEP}.resumed(`);
        this.close(node, `)&&await ${STEP}.never)`);
      } else {
        this.open(node.body, `{if(${STEP}.ended)await ${STEP}.never;`);
        this.close(node.body, "}");
      }
    }
  }

  // The texts of the scripts. Both have everything at the same place.
  scripts() {
    const body = this.edits.apply();
    if (!this.isAsync) return { main: body, offset: 0 };
    const strict = this.isStrict ? '"use strict";' : "";
    const head = `(async(${STEP})=>{${strict}${this.imports.join("")}`;
    const blank = (text) => text.replace(/[^\n\r\u2028\u2029]/g, " ");
    let main = head;
    let functions = this.isStrict ? strict.padEnd(head.length) : blank(head);
    let done = 0;
    for (const node of this.functions) {
      const begin = this.edits.beginsAt(this.at(node.start));
      const end = this.edits.endsAt(this.at(node.end));
      main += body.slice(done, begin) + blank(body.slice(begin, end));
      functions += blank(body.slice(done, begin)) + body.slice(begin, end);
      done = end;
    }
    main += `${body.slice(done)}\n})`;
    return { main, functions: this.functions.length > 0 ? functions : "", offset: head.length };
  }
}

exports.META = META;
exports.rewrite = (source, parsed) => new Rewriting(source, parsed).run();
